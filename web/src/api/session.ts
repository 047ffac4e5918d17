// Tells the frame that the session is over, whoever found out: a screen's query, an act, or the live stream.
let listener: (() => void) | null = null;

/** Be told once the server no longer knows us; returns how to stop listening. */
export function onSessionEnd(act: () => void): () => void {
  listener = act;
  return () => {
    if (listener === act) listener = null;
  };
}

/** Many may find out in one moment: only the first leads away. */
export function tellSessionEnd(): void {
  const act = listener;
  listener = null;
  act?.();
}
