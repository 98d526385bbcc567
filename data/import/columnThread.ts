// A thread that makes columns: their texts in, what is stored of them out, one at a time.
// Knows neither files nor the other columns.
import { takeOrders } from '../threadsInOrder.ts';
import { storedColumn } from './column.ts';
import { cpuMicros } from '../importProfile.ts';

takeOrders(storedColumn, cpuMicros);
