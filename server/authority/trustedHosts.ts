// What getTrustedHostInfo answers: for each local role, the hosts that map to it, as strings (authority design:
// getTrustedHostInfo). Pure.
import type { TrustedHost } from './configuration/hosts.ts';

/**
 * For each local role that some host maps to: `name:uri:remote1, remote2` of each such host, in configuration order,
 * remote roles in configuration order without duplicates. A role that is not a key has no hosts. Cost: linear in the
 * mappings.
 */
export function trustedHostStrings(hosts: readonly TrustedHost[]): ReadonlyMap<string, readonly string[]> {
  const strings = new Map<string, string[]>();
  for (const { name, uri, mappings } of hosts) {
    const remotes = new Map<string, Set<string>>();
    for (const { remote, local } of mappings) {
      const ofRole = remotes.get(local) ?? new Set();
      remotes.set(local, ofRole.add(remote));
    }
    for (const [local, names] of remotes) {
      const ofLocal = strings.get(local) ?? [];
      ofLocal.push(`${name}:${uri}:${[...names].join(', ')}`);
      strings.set(local, ofLocal);
    }
  }
  return strings;
}
