// Keeps the word that says whether the data is stale, which all serving threads share: the probe on the public port
// says so too. Judges nothing; read only where data may be stale.

/** Four looks a second: a proxy that asks as often leaves a stale replica alone within a second. */
const LOOK_MS = 250;

/** Has the word be 1 while what is asked is so, else 0, from now on. Answers what ends that. */
export function keepStaleness(word: Int32Array, isStale: () => boolean): () => void {
  const look = (): void => void Atomics.store(word, 0, isStale() ? 1 : 0);
  look();
  const timer = setInterval(look, LOOK_MS).unref();
  return () => clearInterval(timer);
}
