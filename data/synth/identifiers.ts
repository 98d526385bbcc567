// Identifiers (spec 2.8): of observations,
// of their computations and composites, and of observation collections.
import { edgeNumber, edgeText } from './edges.ts';
import { extraIdentifier, factsOf } from './facts.ts';
import { quote, record, type Json } from './json.ts';
import { processHasIdentifier } from './processes.ts';
import type { Source } from './source.ts';
import type { ShortCode, World } from './world.ts';

/** Identifiers: declared shape; an index is an observation, or beyond the first few also a collection's slot. */
export const identifiers: Source = {
  length: (world) => world.observations,
  records(world, index) {
    const { identifiers: own, process, publicationState, computations } = factsOf(world, index);
    const made = own.map((slot, n) => {
      const type = n === 0 && publicationState === 'citable' ? 'doi' : TYPES[(index + n) % TYPES.length]!;
      return identifier(world, slot, { type, short: 'ob', related: index });
    });
    const ofProcess = { type: 'legacy2_url', short: 'comp', related: computations[0]! } as const;
    if (process === 'computation' && processHasIdentifier(index))
      made.push(identifier(world, extraIdentifier(index, 'process'), ofProcess));
    if (process === 'composite' && processHasIdentifier(index))
      made.push(identifier(world, extraIdentifier(index, 'process'), { ...ofProcess, short: 'cmppr', related: index }));
    if (index < world.length('observationcollections'))
      made.push(
        identifier(world, extraIdentifier(index, 'collection'), { type: 'doi', short: 'coll', related: index }),
      );
    return made;
  },
};

interface Owner {
  readonly type: (typeof TYPES)[number] | 'doi';
  readonly short: ShortCode;
  readonly related: number;
}

function identifier(world: World, slot: number, owner: Owner): Json {
  const random = world.random('identifiers', slot);
  const short = random.chance(15) ? `https://short.example.org/${random.next().toString(36)}` : '';
  return record({
    ob_id: `${world.id('identifiers', slot)}`,
    relatedTo: world.relatedTo(owner.short, owner.related),
    url: quote(address(world, slot, owner.type)),
    identifierType: quote(owner.type),
    shortUrl: quote(short),
  });
}

/** The identifier itself: 10.5072 is the prefix set aside for DOIs that are never registered. */
function address(world: World, slot: number, type: Owner['type']): string {
  const n = edgeNumber(slot);
  const name = world.uuid('identifiers', slot);
  if (type === 'archive_abbreviation') return n >= 0 ? edgeText(n) : name.slice(0, 6);
  if (type === 'doi') return `https://doi.org/10.5072/${name}`;
  return `https://${type === 'legacy2_url' ? 'legacy2' : 'legacy3'}.example.org/view?id=${slot}&name=${name.slice(0, 8)}`;
}

const TYPES = ['archive_abbreviation', 'legacy2_url', 'legacy3_url'] as const;
