// What happens in the workspace, as it happens: every event makes what is shown of the workspace stale. A stream that
// breaks comes back by itself; one that was refused (a gateway's word, an ended session) is opened anew, ever more
// slowly, after a look at whether we are still signed in.
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";

import { meQuery } from "./me";

const GATHER = 250; // milliseconds: a burst of events is one refresh
const FIRST_WAIT = 2_000;
const LONGEST_WAIT = 30_000;

/** Follow a workspace; say whether the stream stands. */
export function useLive(workspaceId: string): boolean {
  const queries = useQueryClient();
  const [connected, setConnected] = useState(true);
  useEffect(() => {
    let source: EventSource;
    let gathering: ReturnType<typeof setTimeout> | undefined;
    let waiting: ReturnType<typeof setTimeout> | undefined;
    let wait = FIRST_WAIT;
    let down = false;
    const readAnew = () => void queries.invalidateQueries({ queryKey: [workspaceId] });
    const open = () => {
      source = new EventSource(`/api/v1/workspaces/${encodeURIComponent(workspaceId)}/events`);
      source.onopen = () => {
        setConnected(true);
        if (down) readAnew(); // nobody told us what happened meanwhile, and what failed may work again
        down = false;
        wait = FIRST_WAIT;
      };
      source.onerror = () => {
        down = true;
        setConnected(false);
        if (source.readyState !== EventSource.CLOSED) return; // it tries again by itself
        // Who is no longer signed in is led to the door by the answer to this.
        queries.fetchQuery({ ...meQuery, staleTime: 0 }).catch(() => undefined);
        waiting = setTimeout(open, wait);
        wait = Math.min(2 * wait, LONGEST_WAIT);
      };
      source.onmessage = () => {
        gathering ??= setTimeout(() => {
          gathering = undefined;
          readAnew();
        }, GATHER);
      };
    };
    open();
    return () => {
      clearTimeout(gathering);
      clearTimeout(waiting);
      source.close();
    };
  }, [workspaceId, queries]);
  return connected;
}
