// The peers and their questions as tables, with the targets of the design. Starts nothing.
import { citable, deepOffset, LIMIT, pageOf, recordOf, rowOfBytes } from '../scenarios/questions.ts';
import type { Choice, ScenarioQuestion } from '../scenarios/scenario.ts';

/** The questions of the design's table of peers, and contains with an index for which the API has no name. */
export type PeerQuestionName = 'list' | 'offset' | 'record' | 'equality' | 'contains';

/**
 * A question: `requests` a round for the replica, `peerRequests` for a peer. `pass` and `great` are the CPU that
 * Fastify over SQLite should need, as multiples of the replica's. With `isStatic`, nginx serves the same bytes as a
 * file, and a replica serves them from its cache.
 */
export interface PeerQuestion {
  readonly name: PeerQuestionName;
  readonly what: string;
  readonly requests: number;
  readonly peerRequests: number;
  readonly pass: number;
  readonly great: number;
  readonly isStatic: boolean;
  question(choice: Choice): ScenarioQuestion;
}

/** A script of the installed peers, for the machine's Node. */
export interface NodeProgram {
  readonly script: string;
  readonly nodeFlags: readonly string[];
}

/**
 * A program that answers the same questions. With `hasEnvelope` it sends the same bytes, otherwise only the same
 * records. It gets `requestsPart` of the requests of a peer. `targetOf` returns undefined for a question that it does
 * not support.
 */
export interface Peer {
  readonly name: string;
  readonly program: NodeProgram | 'Django';
  readonly hasEnvelope: boolean;
  readonly requestsPart: number;
  targetOf(question: PeerQuestionName, target: string, choice: Choice): string | undefined;
}

/** The peer to which the targets of the design apply. */
export const TARGET_PEER = 'Fastify + SQLite';

/** The program that the replica is for. */
export const DJANGO_PEER = 'Django REST Framework';

/** The replica as one of its peers, with the cache of responses that the benchmark otherwise disables. */
export const KEEPING_REPLICA = 'answers kept';

/** The bare control as a peer: the cost of the library for the same bytes, our lower bound. */
export const BARE = 'bare uWebSockets.js';

const RECORD_BYTES = 4096;

/** In the order of the design's table. */
export const PEER_QUESTIONS: readonly PeerQuestion[] = [
  {
    name: 'list',
    what: 'the first page of 100',
    requests: 1200,
    peerRequests: 40,
    pass: 6,
    great: 13,
    isStatic: true,
    question: ({ catalogue: { rows } }) => pageOf(rows, '', 0),
  },
  {
    name: 'offset',
    what: 'the page of 100 at offset 90,000',
    requests: 1200,
    peerRequests: 12,
    pass: 40,
    great: 110,
    isStatic: false,
    question: ({ catalogue: { rows } }) => pageOf(rows, '', deepOffset(rows.length, LIMIT)),
  },
  {
    name: 'record',
    what: 'a record of 4 KB',
    requests: 6000,
    peerRequests: 1500,
    pass: 2,
    great: 3,
    isStatic: false,
    question: ({ catalogue }) => recordOf(rowOfBytes(catalogue.rows, RECORD_BYTES)),
  },
  {
    name: 'equality',
    what: 'publicationState=citable, the first page',
    requests: 600,
    peerRequests: 24,
    pass: 6,
    great: 15,
    isStatic: false,
    question: ({ catalogue }) => pageOf(citable(catalogue), 'publicationState=citable&', 0),
  },
  {
    name: 'contains',
    what: 'title__contains=, the first page',
    requests: 120,
    peerRequests: 8,
    pass: 5,
    great: 30,
    isStatic: false,
    question: ({ catalogue: { rows }, word }) =>
      pageOf(
        rows.filter(({ title }) => title.includes(word)),
        `title__contains=${encodeURIComponent(word)}&`,
        0,
      ),
  },
];

const FASTIFY = { program: { script: 'fastifyPeer.js', nodeFlags: [] }, hasEnvelope: true, requestsPart: 1 };

/** All peers. The second is the first with another index for contains, so its links have another name. */
export const PEERS: readonly Peer[] = [
  { ...FASTIFY, name: TARGET_PEER, targetOf: (_question, target) => target },
  {
    ...FASTIFY,
    name: 'the same with FTS5',
    targetOf: (question, target) => (question === 'contains' ? `${target}&by=grams` : undefined),
  },
  {
    name: 'json-server',
    program: { script: 'jsonServerPeer.js', nodeFlags: ['--max-old-space-size=4096'] },
    hasEnvelope: false,
    requestsPart: 1,
    targetOf: jsonServerTarget,
  },
  {
    name: DJANGO_PEER,
    program: 'Django',
    hasEnvelope: false,
    // A page takes more than 0.1 s.
    requestsPart: 0.1,
    // LIKE of SQLite ignores case. `format=api` selects a page for browsers.
    targetOf: (question, target) => (question === 'contains' ? undefined : target.replace('format=api&', '')),
  },
];

function jsonServerTarget(question: PeerQuestionName, target: string, { catalogue, word }: Choice): string {
  const first = `_start=0&_limit=${LIMIT}`;
  switch (question) {
    case 'list':
      return `/observations?${first}`;
    case 'offset':
      return `/observations?_start=${deepOffset(catalogue.rows.length, LIMIT)}&_limit=${LIMIT}`;
    case 'record':
      return `/observations/${/(\d+)\/$/.exec(target)![1]}`;
    case 'equality':
      return `/observations?publicationState=citable&${first}`;
    case 'contains':
      return `/observations?title_like=${encodeURIComponent(word)}&${first}`;
  }
}
