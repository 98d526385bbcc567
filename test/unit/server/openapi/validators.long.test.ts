// Two independent validators find nothing in the OpenAPI documents of other settings and data than those in
// document.test.ts.
import { test } from 'vitest';
import { sampleExamples } from '../../../../server/openapi/examples.ts';
import { BASE_URL, madeDocument, validatorsFindNothing, VALIDATION_MS_MAX } from '../../../support/openApiDocuments.ts';
import { sampleSnapshot } from '../../../support/sampleSnapshot.ts';
import { DOCUMENTED_SHAPES, shapesIn } from '../../../support/shapes.ts';

const examples = await sampleExamples(BASE_URL);
const sampleShapes = await shapesIn(await sampleSnapshot());

test.each([
  [{}, 'sample', sampleShapes],
  [{ explain: true, pinWalks: true, filters: 'documented' }, 'sample', sampleShapes],
  [{}, 'no data', DOCUMENTED_SHAPES],
])(
  'under %j neither an error nor a warning in the document of %s',
  (flags, _of, shapes) => validatorsFindNothing(madeDocument(flags, shapes, examples)),
  VALIDATION_MS_MAX,
);
