import { workerData } from 'node:worker_threads';
import { takeOrders } from '../threadsInOrder.ts';
import { type LoadOrder, SectionLoader, type PlacedFile } from './sectionLoader.ts';

const loader = await SectionLoader.open(workerData as PlacedFile, () => undefined);

takeOrders(async ({ indexes }: LoadOrder) => {
  await loader.load(indexes);
  return {};
});
