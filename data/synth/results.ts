// Results: where an observation's data lie.
// The same fields appear in the results record and inside the observation.
import { edgeNumber, edgeText, HUGE_INTEGERS } from './edges.ts';
import { factsOf, projectOf } from './facts.ts';
import { EMPTY_LIST, list, NULL, quote, record, type Json } from './json.ts';
import { projectName } from './projects.ts';
import type { Source } from './source.ts';
import { FILE_FORMATS } from './words.ts';
import type { World } from './world.ts';

/** The members that an observation's `result_field` and its results record share, as JSON. */
export interface ResultFields {
  readonly dataPath: Json;
  readonly oldDataPath: Json;
  readonly storageLocation: Json;
  readonly storageStatus: Json;
  readonly volume: Json;
  readonly numberOfFiles: Json;
  readonly fileFormat: Json;
}

/** The result of the observation of that index. */
export function resultFields(world: World, index: number): ResultFields {
  const random = world.random('results', index);
  const { shape, subject } = factsOf(world, index);
  const folder = `${projectName(world, projectOf(world, index)).acronym.toLowerCase()}/data/`;
  const path = `${folder}${slug(subject.instrument)}-${slug(subject.place)}/v${random.between(1, 4)}/${subject.year}`;
  const root = random.chance(80) ? '/badc' : '/neodc';
  const volume = random.chance(10) ? 0 : random.between(1, 999) * 1024 ** random.between(1, 4) + random.below(1024);
  const oldPaths = random.chance(8) ? [quote(`/legacy/${path}`), quote(`/tape/${folder}`)] : [];
  return {
    dataPath: quote(shape === 'emptyTexts' ? '' : `${root}/${path}${odd(index)}`),
    oldDataPath: shape === 'emptyLists' ? EMPTY_LIST : list(oldPaths),
    storageLocation: quote(random.chance(95) ? 'internal' : 'external'),
    storageStatus: quote(random.chance(93) ? 'online' : 'offline'),
    volume: shape === 'hugeVolume' ? HUGE_INTEGERS[Math.floor(index / 230) % HUGE_INTEGERS.length]! : `${volume}`,
    numberOfFiles: `${random.chance(30) ? random.between(1, 9) : random.skewed(200_000)}`,
    fileFormat: quote(shape === 'emptyTexts' ? '' : random.pick(FILE_FORMATS)),
  };
}

/** Results, one for each observation: shape of the public documents. */
export const results: Source = {
  length: (world) => world.observations,
  records(world, index) {
    const fields = resultFields(world, index);
    return [
      record({
        ob_id: `${world.id('results', index)}`,
        uuid: quote(world.uuid('results', index)),
        short_code: quote('result'),
        curationCategory: quote(CATEGORIES[index % 7 < 5 ? 0 : (index % 7) - 4]!),
        dataPath: fields.dataPath,
        numberOfFiles: fields.numberOfFiles,
        volume: fields.volume,
        fileFormat: index % 50 === 3 ? NULL : fields.fileFormat,
        storageStatus: fields.storageStatus,
        storageLocation: fields.storageLocation,
        oldDataPath: fields.oldDataPath,
      }),
    ];
  },
};

const CATEGORIES = ['a', 'b', 'c'];

/** For one path in 69, a folder name that needs care in addresses and in JSON. */
function odd(index: number): string {
  const n = edgeNumber(index);
  return n >= 0 && n % 3 === 0 ? `/${edgeText(n)}` : '';
}

function slug(text: string): string {
  return text.toLowerCase().replaceAll(' ', '-');
}
