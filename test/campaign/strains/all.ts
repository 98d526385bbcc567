import type { Strain } from '../strain.ts';
import { certificates, configurations, envelopes } from './authority.ts';
import { blocks, dataSets, snapshots } from './data.ts';
import { crowdedDearHeads, dearHeads, pipelined } from './dearHeads.ts';
import { faults } from './faults.ts';
import { crowdedHeads, hostileHeads, legalHeads } from './heads.ts';
import { rawBytes, vanishing } from './rawBytes.ts';
import { slowReaders } from './slowReaders.ts';

/** All strains, in the order of the table. */
export const STRAINS: readonly Strain[] = [
  legalHeads,
  hostileHeads,
  crowdedHeads,
  dearHeads,
  crowdedDearHeads,
  pipelined,
  rawBytes,
  vanishing,
  slowReaders,
  snapshots,
  blocks,
  dataSets,
  certificates,
  envelopes,
  configurations,
  faults,
];
