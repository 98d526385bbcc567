import { test } from 'vitest';
import { temporaryDirectory } from '../../../../support/dataSets.ts';
import { sampleExamples } from '../../../../../server/pages/openapi/schemas.ts';
import {
  BASE_URL,
  madeDocument,
  VALIDATION_MS_MAX,
  validatorsFindNothing,
} from '../../../../support/openApiDocuments.ts';
import { sampleSnapshot } from '../../../../support/sampleSnapshot.ts';
import { DOCUMENTED_SHAPES, fileOf, ODD_COLLECTIONS, shapesIn } from '../../../../support/shapes.ts';

const examples = await sampleExamples(BASE_URL);
const sampleShapes = await shapesIn(await sampleSnapshot());

test.each([
  [{}, 'sample', sampleShapes],
  [{ explain: true, pinWalks: true, filters: 'documented' }, 'sample', sampleShapes],
  [{}, 'no data', DOCUMENTED_SHAPES],
  [{}, 'odd data', await shapesIn(await fileOf(temporaryDirectory(), ODD_COLLECTIONS))],
])(
  'has under %j neither an error nor a warning in the documents of %s',
  async (flags, _of, shapes) => {
    await validatorsFindNothing(madeDocument(flags, shapes, examples));
    await validatorsFindNothing(madeDocument(flags, shapes, examples, 'usual'));
  },
  2 * VALIDATION_MS_MAX,
);
