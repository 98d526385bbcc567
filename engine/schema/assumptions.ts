// What the specification leaves open and what we chose, numbered so that code and tests can cite it as `A7`.
// Plain data: no behaviour. Numbers are never reused; a new choice goes to the end. Read by docs and tests.

/**
 * One open question of the specification. `topic` names it, `choice` is what we do, `why` the reason. `setting` is the
 * key of the setting that changes it (flag `--filter-errors` is `filterErrors`); absent where none does.
 */
export interface Assumption {
  readonly id: string;
  readonly topic: string;
  readonly choice: string;
  readonly why: string;
  readonly setting?: string;
}

/** All assumptions in the order of their numbers, A1 first. Source: the sentences "not shown" of the specification. */
export const ASSUMPTIONS: readonly Assumption[] = [
  // Data set
  {
    id: 'A1',
    topic: 'Data set',
    choice:
      'A directory with one `<collection>.ndjson` or `.ndjson.gz` per collection, one record a line as served, `{base_url}` for the base address; a missing file is an empty collection.',
    why: 'The specification shows only what is served; a record as served needs no second description.',
  },
  {
    id: 'A2',
    topic: 'Open collections',
    choice:
      'Collections outside spec 2.3 to 2.10 take any JSON object with an integer ob_id; their scalar fields are filtered too.',
    why: 'Their fields are "not shown beyond the fact that they exist", and clients follow links to them and filter them.',
  },
  {
    id: 'A3',
    topic: 'ProcedureComputations',
    choice: 'The list is that of computations; a single record is a computation, or else the composite of that id.',
    why: 'spec 4.1 gives both collections one documented path.',
  },
  {
    id: 'A4',
    topic: 'Inferred types',
    choice:
      'Over all non-null values: link if all are own links, date or date-time if all match the grammar of A34, then integer, float, boolean, else text. Dates are inferred only in open collections and extra keys.',
    why: 'Comparison by value needs a type, and the only evidence of one is the data.',
  },
  {
    id: 'A5',
    topic: 'Known names of open collections',
    choice:
      'A name that public documents show for an open collection is known, and null where the data lacks it; a sub-field that neither has is an error.',
    why: 'A filter must not change from valid to invalid with the data at hand.',
  },
  {
    id: 'A6',
    topic: 'Extra keys',
    choice: 'Keys that a declared collection does not show are kept, served and filtered with inferred types.',
    why: 'Real records hold more than the documented fields; dropping them would lose data.',
  },
  {
    id: 'A7',
    topic: 'Bad input lines',
    choice:
      'A wrong type, a missing or repeated id or ill-formed JSON ends the import with file, line and JSON pointer; `import --lenient` skips and counts such lines.',
    why: 'A replica that silently lacks records is worse than none.',
  },
  {
    id: 'A8',
    topic: 'Dangling links',
    choice: 'A link to a record that does not exist is served, keeps its id for filters, and is counted and reported.',
    why: 'Catalogues withdraw records that others still link to.',
  },
  {
    id: 'A9',
    topic: 'Own URLs',
    choice: '`{base_url}` is replaced only at the start of a string value; text lookups see the URL as it is served.',
    why: 'Elsewhere the same characters are text of the record, and a filter must agree with what its client reads.',
  },
  {
    id: 'A10',
    topic: 'Ids and order',
    choice: 'Ids are integers of 0 to 2^53 - 1; lists ascend by id.',
    why: 'Every JSON reader keeps these integers exactly, and paging by offset needs a fixed order.',
  },
  {
    id: 'A11',
    topic: 'Bytes of values',
    choice:
      'Number tokens are served as written, strings re-escaped minimally (`\\b \\f \\n \\r \\t`, else `\\u00xx`), U+2028 and U+2029 as `\\u2028` and `\\u2029`, all else as UTF-8; separators are compact, without a final newline.',
    why: 'This is what a Django REST Framework service sends, and it never rounds an integer.',
  },
  {
    id: 'A12',
    topic: 'Data time and generation',
    choice:
      'The time of the data is that of MANIFEST.json or of `import --created`; the generation is the hash of the snapshot.',
    why: 'Neither depends on when or where a snapshot is loaded, so replicas agree.',
  },
  // Paths
  {
    id: 'A13',
    topic: 'Paths and versions',
    choice:
      'Every collection is served in both spellings, as list, `.json` list, record and `.json` record; v2 serves all but migrationproperties; both versions have a root view.',
    why: 'Example requests use the root spelling, the table the documented one, and v2 records link to v2 records of every kind.',
  },
  {
    id: 'A14',
    topic: 'Missing final slash',
    choice:
      '301 to the path with the slash, a relative Location and the query byte for byte, only where that path exists.',
    why: 'The stock service does so, and clients write both.',
  },
  {
    id: 'A15',
    topic: 'Spelling of ids in paths',
    choice: '`01`, `+1` and `1%20` are record 1; what is no integer is 404.',
    why: 'The stock service converts the segment to an integer.',
  },
  {
    id: 'A16',
    topic: 'The path /',
    choice: 'A small JSON index of what is served.',
    why: 'People open it first.',
  },
  {
    id: 'A17',
    topic: 'Reading of targets',
    choice:
      'Percent-decoding is done per segment after the split; a raw `#` is 400; `/api/v3/.json` is the root view; absolute-form targets are accepted where the transport can.',
    why: 'RFC 9112, section 3.2, and an encoded slash must not make a new segment.',
  },
  // Envelope
  {
    id: 'A18',
    topic: 'Ends of a walk',
    choice: 'next and previous are always present and JSON null at the ends.',
    why: 'Clients loop while the link is not null.',
  },
  {
    id: 'A19',
    topic: 'limit',
    choice: 'A positive integer, else 100; no upper bound by default, a larger one is cut to the setting.',
    why: 'The page size observed is 100; clients ask for 20,000 records at once and pages stream at flat memory.',
    setting: 'limitMax',
  },
  {
    id: 'A20',
    topic: 'offset',
    choice:
      'An integer from 0, else 0; past the end the answer is 200 with no results, the exact count, next null and previous at offset - limit.',
    why: 'The stock service answers so.',
  },
  {
    id: 'A21',
    topic: 'Integers of paging',
    choice:
      'Blanks around, leading zeros and `+` are fine; more than 15 significant digits count as 999999999999999; the last of repeated parameters wins.',
    why: 'Offsets stay exact in a double, and no client means a larger one.',
  },
  {
    id: 'A22',
    topic: 'next and previous',
    choice:
      'The path as asked, all parameters with names sorted and repeats in order, the effective limit always, offset left out when 0; blank as `+`, all but letters, digits and `-._~` percent-encoded.',
    why: 'spec 2.2 has the links repeat the query; this is the encoding of the stock service.',
  },
  {
    id: 'A23',
    topic: 'Base URL',
    choice:
      'All own URLs start with the configured base URL; another listed one is chosen by Host or, from trusted proxies, X-Forwarded-Host and -Proto.',
    why: 'An answer built from an unlisted Host header can be used to poison caches.',
    setting: 'baseUrl',
  },
  {
    id: 'A24',
    topic: 'Links inside records',
    choice: 'Always `.../?format=api`, in the version asked.',
    why: 'Every link of the specification has this form; following the request instead is the setting.',
    setting: 'links',
  },
  {
    id: 'A25',
    topic: 'Parameters of single records',
    choice: 'Only format, fields and strict are heeded; all others are ignored and named.',
    why: 'spec 4.2 and 4.3 give parameters for lists only.',
  },
  // Parameters
  {
    id: 'A26',
    topic: 'format',
    choice:
      '`api`, `json`, empty and none give the same bytes; `ndjson` and `csv` are exports (A62); any other value is 404.',
    why: 'spec 4.2 says that the body of `api` is still JSON; the stock service answers 404 to an unknown format.',
  },
  {
    id: 'A27',
    topic: 'Unknown parameters',
    choice:
      'Ignored with status 200 and named in X-Ignored-Params; with `strict=1` (or `true`; any other value is off) or the setting a 400.',
    why: 'Real clients send `page` and misspelt filters; the header tells them without breaking them.',
    setting: 'strict',
  },
  {
    id: 'A28',
    topic: 'Suggestions',
    choice:
      'A refused parameter is answered with the key whose first name is nearest to its own, within an edit distance of a third of that name; what follows is kept.',
    why: 'Most unknown names are known ones misspelt; further away a suggestion is a guess.',
  },
  {
    id: 'A29',
    topic: 'Bad filters',
    choice:
      'An unknown lookup or sub-field of a known field, or a value of the wrong type, is a 400 with `{"<key>":["<message>"]}`, every bad key in query order.',
    why: 'spec 7 shows no error; an empty list (the stock answer, a setting) hides the mistake.',
    setting: 'filterErrors',
  },
  // Filters
  {
    id: 'A30',
    topic: 'Grammar of keys',
    choice:
      'Names of letters and digits of any script and `_`, no digit first, joined by `__`, with an optional final `!`; decoded first, case-sensitive, split from the left. The first name that does not fit is the one quoted, an empty one behind the first too; what does not match is an unknown parameter.',
    why: 'The filter library of the stock service matches keys so.',
  },
  {
    id: 'A31',
    topic: 'Negation',
    choice: 'A final `!` negates, with or without a lookup: `status!=completed`, `title__startswith!=x`.',
    why: 'spec 4.3 shows it behind a lookup; the library takes both.',
  },
  {
    id: 'A32',
    topic: 'Fields named like lookups',
    choice: 'A field wins over a lookup of the same name; without a lookup the comparison is `exact`.',
    why: 'Otherwise such a field could not be asked at all; `<field>__exact` still can.',
  },
  {
    id: 'A33',
    topic: 'Which fields can be filtered',
    choice:
      'Every declared field of every collection, ids and embedded records included; only the documented ones by setting.',
    why: 'spec 4.3 lists the documented filters without saying that there are no others; clients use more.',
    setting: 'filters',
  },
  {
    id: 'A34',
    topic: 'Dates',
    choice:
      '`YYYY-MM-DD[(T| )HH:MM[:SS[.ffffff]]][Z|+hh:mm|-hh:mm]` with 1 to 6 decimals, proleptic Gregorian; a missing time is 00:00:00, no zone is UTC; compared by instant. A stored text that is no date matches no date.',
    why: 'spec 2.9 shows date-times without zone, and the same instant is written in many ways.',
  },
  {
    id: 'A35',
    topic: 'Text lookups on other types',
    choice:
      'On integers, floats and booleans they see the JSON text, on dates the text served; on a key that ends on a relation they are not supported.',
    why: 'What a client reads is what it can search; a relation has no text.',
  },
  {
    id: 'A36',
    topic: 'Keys that end on a relation',
    choice:
      'They mean the id of the related record, which in a link is its last number: `discoveryKeywords=3`, `permissions`, `result_field`.',
    why: 'spec 4.3 lists relations as filters; the stock service compares primary keys.',
  },
  {
    id: 'A37',
    topic: 'Arrays of scalars',
    choice: 'A key on one matches when any element does; several keys on one may be met by different elements.',
    why: 'Elements of such an array have no identity, so there is no row that all conditions could be about.',
  },
  {
    id: 'A38',
    topic: 'results_field, discoveryKeyword',
    choice: 'Unknown parameters, like any other misspelling.',
    why: 'spec 4.3 calls the record field names authoritative.',
  },
  {
    id: 'A39',
    topic: 'Decoding of values',
    choice:
      'Form decoding as the URL standard has it (`+` is a blank, invalid UTF-8 becomes U+FFFD, a broken escape stays); values and members of lists are trimmed; empty text compares with the empty text.',
    why: 'Browsers and client libraries encode so.',
  },
  {
    id: 'A40',
    topic: 'Integers and numbers',
    choice:
      'Integers may have blanks around, `+`, leading zeros and a fraction of zeros, and are compared exactly at any length; `1.5`, `1e3` and `abc` are errors. Floats compare as doubles. An empty number or date is an error of its own.',
    why: 'The stock service reads integers so; a comparison of rounded integers would find records that differ.',
  },
  {
    id: 'A41',
    topic: 'Booleans',
    choice: '`false` in any case, `0` and the empty text are false, everything else is true.',
    why: 'The stock service converts so.',
  },
  {
    id: 'A42',
    topic: 'in',
    choice:
      'Split at `,` after decoding; an empty value matches nothing; `in=,` has two empty members. A bad member is an error, or is dropped where filterErrors is `empty` or `ignore`, which find an error only when none is left.',
    why: 'spec 4.3 says comma-separated and no more.',
    setting: 'filterErrors',
  },
  {
    id: 'A43',
    topic: 'NUL in values',
    choice: 'An error like any bad value, on every type.',
    why: 'No value of a catalogue holds one; the stock database refuses it.',
  },
  {
    id: 'A44',
    topic: 'Nulls',
    choice: 'A null matches no positive condition and every negated one.',
    why: 'A negation keeps what its condition does not find.',
  },
  {
    id: 'A45',
    topic: 'Conditions on one relation',
    choice:
      'Positive conditions on the same to-many relation must hold for the same related row; no record is listed or counted twice.',
    why: '`terms__label=units&terms__value=K` asks for a term, not for two.',
  },
  {
    id: 'A46',
    topic: 'Negated conditions',
    choice: 'Each stands alone: it drops records with any matching related row and keeps those without related rows.',
    why: 'It then is the complement of its positive form.',
  },
  {
    id: 'A47',
    topic: 'Repeated keys',
    choice:
      'The last value wins after normalisation (`title` is `title__exact`, a relation is its id, a negated key is another key); earlier ones are not judged.',
    why: 'A query is read as a map from key to value.',
  },
  {
    id: 'A48',
    topic: 'Depth of keys',
    choice: 'A key may step over at most 6 relations, as it writes them; beyond it is an error.',
    why: 'Cycles of relations would make the length of a key the only bound on work.',
  },
  // Responses
  {
    id: 'A49',
    topic: 'HEAD and OPTIONS',
    choice:
      'HEAD has the headers of GET without the body; OPTIONS answers 200 with Allow and a description of the view, to a preflight too.',
    why: 'spec 1 documents GET and HEAD and an Allow header that names OPTIONS.',
  },
  {
    id: 'A50',
    topic: 'Errors',
    choice:
      'JSON bodies: 404 `{"detail":"Not found."}`, 405 and 406 with their detail, 400 as in A29, 503 with Retry-After when too much heavy work waits. None leaks a stack or a path.',
    why: 'spec 7 shows none; these are the bodies of the stock service.',
  },
  {
    id: 'A51',
    topic: 'Negotiation',
    choice:
      'No Accept, `*/*`, `application/*` and `application/json` give JSON; an explicit format or a `.json` path overrides Accept; anything else alone is 406.',
    why: 'spec 4.1 names both ways to ask for JSON.',
  },
  {
    id: 'A52',
    topic: 'Cross-origin requests',
    choice: 'GET is open to every origin, and the headers of use to a client are exposed.',
    why: 'The catalogue is public and read-only, and no credential is ever sent (spec 5).',
    setting: 'cors',
  },
  {
    id: 'A53',
    topic: 'Range',
    choice: 'Ignored: the answer is the whole page with 200.',
    why: 'RFC 9110, section 14.2, allows it, and pages are cut by limit and offset.',
  },
  {
    id: 'A54',
    topic: 'Fields that are not declared',
    choice:
      'Keys of open collections and extra keys of declared ones are fields, with types inferred over all their non-null values: link (to one collection), date, date-time, integer, float, boolean, else text as JSON shows it. Objects and arrays of objects are embedded records; keys whose values differ in structure, and names that no filter key can hold, are served and are no fields. Beyond 1,000 such keys in one collection none is a field.',
    why: 'Clients filter on them; the data is the only place that tells what they are, and keys by the thousand are data themselves.',
  },
];
