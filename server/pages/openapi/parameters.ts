// The parameters of the document: those of engine/query/parameters.ts, the id of a record, and one for the filters of
// each collection. Shared by reference; which view heeds which is the engine's table's to say.
import { limitWithout, PARAMETERS, type QueryOptions, type View } from '../../../engine/engine.ts';
import { type DocumentObject, refTo, wordOf } from './references.ts';
import { INFERRED_TOLD_MAX } from './shapes.ts';

/** The parameters that are offered under these settings, by the name of their component. */
export function parameterComponents(options: QueryOptions): DocumentObject {
  const offered = offeredParameters(options).map(({ name, value, schema, example, meaning }) => {
    const style = 'items' in schema ? { style: 'form', explode: false } : {};
    const description = `${meaning[0]!.toUpperCase()}${meaning.slice(1)}. Value: ${value}.`;
    const own = name === 'limit' ? { ...schema, default: limitWithout(options, undefined) } : schema;
    const shown = example === undefined ? {} : { example };
    return [wordOf(name), { name, in: 'query', description, schema: own, ...style, ...shown }] as const;
  });
  const format = Object.fromEntries(offered)[wordOf('format')]!;
  const plain = { ...format, description: PLAIN_FORMAT, schema: { type: 'string', enum: ['api', 'json'] } };
  const id = { name: 'id', in: 'path', required: true, description: 'Id of the record.', schema: { type: 'integer' } };
  return { ...Object.fromEntries(offered), PlainFormat: plain, Id: { ...id, example: 141 } };
}

const PLAIN_FORMAT = 'The form: `api`, `json` and none are the same JSON. Value: `api`, `json`.';

function offeredParameters(options: QueryOptions): typeof PARAMETERS {
  return PARAMETERS.filter(({ setting }) => setting === undefined || options[setting] === true);
}

/** The parameters that a view heeds, as references. */
export function parametersOf(view: View, options: QueryOptions): readonly DocumentObject[] {
  const heeded = offeredParameters(options).filter(({ views }) => views.includes(view));
  // The root view has no exports (A62).
  const wordIn = (name: string): string => (name === 'format' && view === 'root' ? 'PlainFormat' : wordOf(name));
  return heeded.map(({ name }) => refTo('parameters', wordIn(name)));
}

/** Whether a list heeds a parameter of this name under these settings, so that no filter can have it. */
export function isListParameter(options: QueryOptions): (name: string) => boolean {
  const heeded = new Set(
    offeredParameters(options).flatMap(({ name, views }) => (views.includes('list') ? [name] : [])),
  );
  return (name) => heeded.has(name);
}

const FILTERS = `One query parameter for each member: \`<field>=<value>\` or \`<field>__<lookup>=<value>\`. \`!\` behind
either negates. A link, or a list of links, is also a step to the fields of the records that it leads to, up to six
steps deep: \`projects__title__contains=ice\`. Of the fields that only the data has, ${INFERRED_TOLD_MAX} are members; others can be
filtered too. All conditions must hold.`;

/** The filters of a collection as one parameter, which is sent as one for each member of the object. */
export function filtersParameter(schema: string, example: DocumentObject): DocumentObject {
  const description = FILTERS.replace(/\n/g, ' ');
  const style = { style: 'form', explode: true };
  return { name: 'filters', in: 'query', description, ...style, schema: refTo('schemas', schema), example };
}
