// The table of record makers, one for each collection of the root view. To change what a collection holds, follow its
// line. Holds no making itself.
import { bboxes, times, verticalExtents } from './extents.ts';
import { identifiers } from './identifiers.ts';
import { migrationProperties } from './migration.ts';
import {
  conformanceResults,
  discoveryServiceIds,
  drsDatasets,
  imageDetails,
  inputOutputDescriptions,
  inspireThemes,
  notes,
  onlineResources,
  referenceables,
  relatedObservations,
  topicCategories,
} from './minor.ts';
import { observationCollections, observations } from './observations.ts';
import { parties, responsibleParties } from './parties.ts';
import { constraints, licenceClassifications, licences } from './permissions.ts';
import { phenomena, vocabularyTerms } from './phenomena.ts';
import { acquisitions, composites, computations, pairs } from './processes.ts';
import { instruments, mpos, platforms, projects } from './projects.ts';
import { results } from './results.ts';
import type { Source } from './source.ts';

/** The maker of every collection, by the root view's name (spec 2.1). */
export const SOURCES: Readonly<Record<string, Source>> = {
  acquisitions,
  bboxes,
  composites,
  computations,
  constraints,
  discoveryserviceids: discoveryServiceIds,
  dqconformanceresults: conformanceResults,
  drsdatasets: drsDatasets,
  identifiers,
  imagedetails: imageDetails,
  inspirethemes: inspireThemes,
  instruments,
  iods: inputOutputDescriptions,
  ipps: pairs,
  licenceclassifications: licenceClassifications,
  licences,
  migrationproperties: migrationProperties,
  mpos,
  notes,
  observationcollections: observationCollections,
  observations,
  onlineresources: onlineResources,
  parties,
  phenomona: phenomena,
  platforms,
  projects,
  referenceables,
  relatedobservationinfos: relatedObservations,
  results,
  rpis: responsibleParties,
  times,
  topiccategories: topicCategories,
  verticalextents: verticalExtents,
  vocabularyterms: vocabularyTerms,
};
