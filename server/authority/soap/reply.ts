import type { Authority, Reply, SoapMessage } from '../authority.ts';
import { readEnvelope } from './requests.ts';
import { GET_TRUSTED_HOST_INFO, type Operation, REQ_AUTHORISATION } from './protocol.ts';
import { responseBytes, type Result } from './answers.ts';
import { OUTCOME } from './tally.ts';

/**
 * The reply to a message under one configuration; runs in the authority thread. An error is a bug: `onBug` receives it,
 * and the client a fault.
 */
export function replyTo(authority: Authority, message: SoapMessage, onBug: (error: unknown) => void): Reply {
  try {
    return execute(authority, message);
  } catch (error) {
    onBug(error);
    return { fault: 'bug' };
  }
}

function execute({ trustedHosts, authorise }: Authority, { body, charset, sender }: SoapMessage): Reply {
  const call = readEnvelope(body, charset);
  if (typeof call === 'string') return { fault: call };
  if (call.operation === GET_TRUSTED_HOST_INFO) return listHosts(trustedHosts, call.values[0]);
  const [usrProxyCert = '', usrAttCert = ''] = call.values;
  const { attCert, statCode, errMsg } = authorise({ usrProxyCert, usrAttCert, ...sender });
  return writeReply(OUTCOME[statCode], REQ_AUTHORISATION, [attCert, statCode, errMsg]);
}

function listHosts(trustedHosts: Authority['trustedHosts'], role = ''): Reply {
  if (role === '') return writeReply(OUTCOME.noRole, GET_TRUSTED_HOST_INFO, [[], 'No role was input']);
  const hosts = trustedHosts.get(role);
  return writeReply(hosts ? OUTCOME.listed : OUTCOME.unknownRole, GET_TRUSTED_HOST_INFO, [hosts ?? [], '']);
}

/** The bytes are a copy, so that their memory can be transferred to another thread. */
function writeReply(outcome: number, operation: Operation, results: readonly Result[]): Reply {
  return { outcome, bytes: Uint8Array.from(responseBytes(operation, results)) };
}
