// An operator, an account and users of a NATS server as signed claims, which is how clusters of many tenants know whom
// to let in: made by hand, since no tool for it is at hand. The form is that of nats-io/jwt, version 2.
import { nkeys } from '@nats-io/transport-node';

type Pair = ReturnType<typeof nkeys.createUser>;

/** Lines of a server's configuration that let the users of one account in, and the credentials of such a user. */
export interface NatsAccount {
  readonly lines: string;
  readonly credentials: string;
}

const UNLIMITED = -1;

/** A new account of a new operator. */
export function natsAccount(): NatsAccount {
  const operator = nkeys.createOperator();
  const accounts = ['system', 'catalogue'].map((name) => {
    const pair = nkeys.createAccount();
    const storage = name === 'system' ? 0 : UNLIMITED;
    const jetstream = { mem_storage: storage, disk_storage: storage, streams: storage, consumer: storage };
    const most = { subs: UNLIMITED, data: UNLIMITED, payload: UNLIMITED, conn: UNLIMITED };
    const limits = { ...most, imports: UNLIMITED, exports: UNLIMITED, wildcards: true, ...jetstream };
    return { pair, name, claims: signed(operator, pair, name, { type: 'account', limits }) };
  });
  const [system, own] = accounts as [(typeof accounts)[0], (typeof accounts)[0]];
  const preload = accounts.map(({ pair, claims }) => `${pair.getPublicKey()}: ${claims}`);
  const lines = [
    `operator: ${signed(operator, operator, 'operator', { type: 'operator' })}`,
    `system_account: ${system.pair.getPublicKey()}`,
    'resolver: MEMORY',
    `resolver_preload: { ${preload.join(', ')} }`,
  ];
  return { lines: lines.join('\n'), credentials: credentialsOf(own.pair) };
}

/** What a user of an account holds in a file: signed claims, and the key that they are about. */
function credentialsOf(account: Pair): string {
  const user = nkeys.createUser();
  const limits = { subs: UNLIMITED, data: UNLIMITED, payload: UNLIMITED };
  const claims = signed(account, user, 'user', { type: 'user', ...limits });
  const seed = new TextDecoder().decode(user.getSeed());
  return [
    `-----BEGIN NATS USER JWT-----\n${claims}\n------END NATS USER JWT------\n`,
    `-----BEGIN USER NKEY SEED-----\n${seed}\n------END USER NKEY SEED------`,
  ].join('\n');
}

function signed(issuer: Pair, subject: Pair, name: string, nats: object): string {
  const claims = { jti: name, iat: 1, iss: issuer.getPublicKey(), sub: subject.getPublicKey(), name };
  const parts = [
    { typ: 'JWT', alg: 'ed25519-nkey' },
    { ...claims, nats: { ...nats, version: 2 } },
  ];
  const text = parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
  return `${text}.${Buffer.from(issuer.sign(Buffer.from(text))).toString('base64url')}`;
}
