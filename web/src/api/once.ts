// A write is done once, however often its button is pressed: each carries a key, and the same write carries the same
// key while the first is under way and when its answer was lost, so that the server repeats its answer instead of the
// act. Limit: the same words within a few minutes, in this page; after an answered write nothing is taken for a repetition.
const GOOD_FOR = 5 * 60_000; // milliseconds
const page = [...crypto.getRandomValues(new Uint32Array(4))].map((part) => part.toString(36)).join("");
const lost = new Map<string, { key: string; at: number }>();
const sent = new Map<string, string>(); // by key: what is on its way
let count = 0;

/** The key for a write that says this: of the one under way or whose answer was lost, else a new one. */
export function keyFor(said: string, now = Date.now()): string {
  for (const [key, words] of sent) if (words === said) return key;
  const before = lost.get(said);
  const key = before !== undefined && now - before.at < GOOD_FOR ? before.key : `${page}-${++count}`;
  sent.set(key, said);
  return key;
}

/** The write was answered: every doubt before it is over, because people saw what came of it. */
export function answered(key: string): void {
  sent.delete(key);
  lost.clear();
}

/** No answer came, or none that says whether it was done. */
export function unanswered(key: string, now = Date.now()): void {
  const said = sent.get(key);
  sent.delete(key);
  if (said !== undefined) lost.set(said, { key, at: now });
}
