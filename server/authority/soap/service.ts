// The attribute authority's handler: WSDL to GET and HEAD, SOAP 1.1 over POST (spec, attribute authority; design:
// message level). Speaks for an Authority and decides nothing itself; every other path is the other handler's. Knows no
// transport.
import type { AuthorisationRequest, Authority, LongMessage } from '../authority.ts';
import {
  type Answer,
  AnsweredBug,
  basePath,
  type Disconnection,
  type Handler,
  type Intake,
  type Reply,
  type Request,
  ROUTE,
  targetWithin,
} from '../../http/exchange.ts';
import type { Slices } from '../../../workers/slices.ts';
import { Memory } from '../../http/memory.ts';
import type { Tally } from '../../observe/tally.ts';
import {
  ENCODED_BODY,
  FAULT_ANSWERS,
  METHOD_NOT_ALLOWED,
  NO_HOSTS,
  NOT_XML,
  response,
  TOO_LONG,
  TrustedHostAnswers,
  xmlAnswer,
} from './answers.ts';
import { charsetOf } from './contentType.ts';
import { readEnvelope } from './envelopeReader.ts';
import { type FaultName, FAULTS } from './faults.ts';
import { type Call, GET_TRUSTED_HOST_INFO, REQ_AUTHORISATION, SERVICE_PATH } from './protocol.ts';
import { OUTCOME } from './tally.ts';
import { wsdlBytes } from './wsdl.ts';

/**
 * The settings of the service; the base URL is known by now, and stands in the WSDL whatever a client calls us. Below
 * the others that are allowed the service is found too.
 */
export interface SoapSettings {
  readonly baseUrl: string;
  readonly allowBaseUrls: readonly string[];
  readonly soapBodyBytesMax: number;
}

/**
 * What the handler is composed of. `authority` is asked for each request: a reload makes another, undefined is none at
 * all. `tally` is of SOAP_ANSWERS, and counts the answers to messages; `slices` say whether there is time to read one.
 */
export interface SoapOptions {
  readonly authority: () => Authority | undefined;
  readonly settings: SoapSettings;
  readonly tally: Tally;
  readonly slices: Pick<Slices, 'atOnce'>;
  readonly otherwise: Handler;
}

/**
 * The handler of the service's path; `otherwise` answers every other one, and this one too while there is no authority
 * (A99). Cost for other paths: a comparison of lengths for each base path. getTrustedHostInfo is answered at once from
 * bytes made before, and a request of the same bytes as one before is not read again.
 */
export function soapHandler({ authority, otherwise, ...options }: SoapOptions): Handler {
  const { settings } = options;
  const service = new Service(options);
  const paths = [...new Set([settings.baseUrl, ...settings.allowBaseUrls].map(basePath))];
  return (request, disconnection): Reply => {
    if (!isServiceBelow(paths, request.target)) return otherwise(request, disconnection);
    request.route = ROUTE.authority;
    return service.reply(authority, request, disconnection) ?? otherwise(request, disconnection);
  };
}

/** Compares targets as sent, so that a proxy's rule for the path has no second spelling. Runs for every request. */
function isServiceBelow(paths: readonly string[], target: string): boolean {
  for (const path of paths) if (targetWithin(target, path) === SERVICE_PATH) return true;
  return false;
}

/** Requests of one role by one toolkit are the same bytes: more than the roles and toolkits of most sites. */
const CALLS_BYTES_MAX = 32_768;
/** Four times what toolkits send for getTrustedHostInfo. */
const CALL_BYTES_MAX = 2048;

/**
 * Longer bodies are read by another thread (A105): three times what users send, and 2.5 ms at the worst. So are those
 * of more than READ_AT_ONCE_BYTES where the ones before took the time of this turn.
 */
const READ_HERE_BYTES_MAX = 16_384;
const READ_AT_ONCE_BYTES = 2048;

/** What a body is remembered under: the end, where the role stands. All of it would take longer to look up. */
const END_BYTES = 96;

function endOf(body: Uint8Array): string {
  const length = Math.min(body.length, END_BYTES);
  return Buffer.from(body.buffer, body.byteOffset + body.length - length, length).toString('latin1');
}

class Service {
  readonly #wsdl: Answer;
  readonly #bodyBytesMax: number;
  readonly #tally: Tally;
  readonly #slices: SoapOptions['slices'];
  #configured: Configured | undefined;

  constructor({ settings, tally, slices }: Pick<SoapOptions, 'settings' | 'tally' | 'slices'>) {
    this.#wsdl = xmlAnswer(wsdlBytes(settings.baseUrl));
    this.#bodyBytesMax = settings.soapBodyBytesMax;
    this.#tally = tally;
    this.#slices = slices;
  }

  /**
   * Undefined where there is no authority now. Throws AnsweredBug: SOAP clients read no other answer to a bug than a
   * fault.
   */
  reply(authority: SoapOptions['authority'], request: Request, disconnection: Disconnection): Reply | undefined {
    try {
      const current = authority();
      return current && this.#judge(current, request, disconnection);
    } catch (error) {
      this.#count(OUTCOME.Server);
      throw new AnsweredBug(FAULT_ANSWERS.bug, error);
    }
  }

  /** Judges method, type, coding, in this order; the message once its body is here. */
  #judge(authority: Authority, request: Request, disconnection: Disconnection): Reply {
    if (request.method === 'GET' || request.method === 'HEAD') return this.#wsdl;
    if (request.method !== 'POST') return METHOD_NOT_ALLOWED;
    const type = charsetOf(request.header('content-type'));
    if (type === 'unsupported') return NOT_XML;
    const coding = request.header('content-encoding');
    if (coding !== undefined && coding.toLowerCase() !== 'identity') return ENCODED_BODY;
    const sender = { id: request.id, peer: request.peer() };
    return this.#intake(authority, { charset: type.charset, disconnection, sender });
  }

  /** SOAPAction is not looked at: the Body says which operation is meant (A92). */
  #intake(authority: Authority, head: Omit<Message, 'body'>): Intake {
    return {
      bodyBytesMax: this.#bodyBytesMax,
      tooLong: TOO_LONG,
      busy: FAULT_ANSWERS.busy,
      failed: FAULT_ANSWERS.bug,
      answer: (body) => {
        try {
          const answer = this.#answerTo(this.#configuredBy(authority), { ...head, body });
          return answer instanceof Promise ? this.#watched(answer) : answer;
        } catch (error) {
          this.#count(OUTCOME.Server);
          throw error;
        }
      },
    };
  }

  async #watched(answer: Promise<Answer>): Promise<Answer> {
    try {
      return await answer;
    } catch (error) {
      this.#count(OUTCOME.Server);
      throw error;
    }
  }

  #answerTo(configured: Configured, message: Message): Answer | Promise<Answer> {
    const { body, charset } = message;
    const known = configured.calls.find(endOf(body));
    if (known?.charset === charset && known && Buffer.compare(known.body, body) === 0) return this.#hosts(known);
    const isShort = body.length <= READ_AT_ONCE_BYTES;
    const read = (): Call | FaultName => readEnvelope(body, charset);
    const call = isShort ? read() : body.length <= READ_HERE_BYTES_MAX && this.#slices.atOnce(read);
    if (!call) return this.#readElsewhere(configured, message);
    const hosts = hostsAskedFor(configured, call);
    // Whoever makes roles up does not drive out those that are asked for.
    if (hosts && hosts.outcome !== OUTCOME.unknownRole && body.length <= CALL_BYTES_MAX) {
      configured.calls.keep(endOf(body), { ...hosts, body: new Uint8Array(body), charset }, body.length);
    }
    return hosts ? this.#hosts(hosts) : this.#other(configured, call, message);
  }

  async #readElsewhere(configured: Configured, message: Message): Promise<Answer> {
    const { body, charset, disconnection } = message;
    const isGone = (): boolean => disconnection.isGone();
    const long: LongMessage = { body: new Uint8Array(body), charset, isGone };
    // The thread reads with readEnvelope, or says that it cannot.
    const call = (await configured.authority.read(long)) as Call | FaultName;
    const hosts = hostsAskedFor(configured, call);
    return hosts ? this.#hosts(hosts) : this.#other(configured, call, message);
  }

  /** The answer to what asks for no trusted hosts. */
  #other({ authority }: Configured, call: Call | FaultName, { sender }: Message): Answer | Promise<Answer> {
    if (typeof call !== 'string') return this.#authorised(authority, call.values, sender);
    return this.#fault(call);
  }

  #fault(name: FaultName): Answer {
    this.#count(OUTCOME[FAULTS[name].code]);
    return FAULT_ANSWERS[name];
  }

  #hosts({ answer, outcome }: Hosts): Answer {
    this.#count(outcome);
    return answer;
  }

  async #authorised(
    authority: Authority,
    [usrProxyCert = '', usrAttCert = '']: Call['values'],
    sender: Message['sender'],
  ): Promise<Answer> {
    const { attCert, statCode, errMsg, isStarved } = await authority.authorise({ usrProxyCert, usrAttCert, ...sender });
    if (isStarved) return this.#fault('busy');
    const answer = response(REQ_AUTHORISATION, [attCert, statCode, errMsg]);
    this.#count(OUTCOME[statCode]);
    return answer;
  }

  /** A number in memory that is there: nothing is allocated, so that the quickest answers do not pay for it. */
  #count(cell: number): void {
    this.#tally[cell]!++;
  }

  /** What is known under a configuration goes with it. */
  #configuredBy(authority: Authority): Configured {
    if (this.#configured?.authority !== authority) {
      this.#configured = { authority, answers: new TrustedHostAnswers(authority), calls: new Memory(CALLS_BYTES_MAX) };
    }
    return this.#configured;
  }
}

/** A message as it came, and what the logs name its request and client by. */
interface Message {
  readonly sender: Pick<AuthorisationRequest, 'id' | 'peer'>;
  readonly body: Uint8Array;
  readonly charset: string | undefined;
  readonly disconnection: Disconnection;
}

/** An answer of getTrustedHostInfo, and the cell that counts it. */
interface Hosts {
  readonly answer: Answer;
  readonly outcome: number;
}

/** A request that came before: what it was, and what it got. */
interface KnownCall extends Hosts {
  readonly body: Uint8Array;
  readonly charset: string | undefined;
}

/** A configuration, the answers that it gives, and the requests that got them before. */
interface Configured {
  readonly authority: Authority;
  readonly answers: TrustedHostAnswers;
  readonly calls: Memory<KnownCall>;
}

/** The answer to a call of getTrustedHostInfo; undefined for every other. */
function hostsAskedFor({ answers }: Configured, call: Call | FaultName): Hosts | undefined {
  // By its name: what another thread read is a copy.
  if (typeof call === 'string' || call.operation.name !== GET_TRUSTED_HOST_INFO.name) return undefined;
  const [role = ''] = call.values;
  const answer = answers.to(role);
  if (answer === undefined) return { answer: NO_HOSTS, outcome: OUTCOME.unknownRole };
  return { answer, outcome: role === '' ? OUTCOME.noRole : OUTCOME.listed };
}
