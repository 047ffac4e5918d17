// What happens in the workspace, as it happens: every event makes what is shown of the workspace stale.
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";

const GATHER = 250; // milliseconds: a burst of events is one refresh

/** Follow a workspace; say whether the stream stands. */
export function useLive(workspaceId: string): boolean {
  const queries = useQueryClient();
  const [connected, setConnected] = useState(true);
  useEffect(() => {
    const source = new EventSource(`/api/v1/workspaces/${encodeURIComponent(workspaceId)}/events`);
    let timer: ReturnType<typeof setTimeout> | undefined;
    let down = false;
    const readAnew = () => void queries.invalidateQueries({ queryKey: [workspaceId] });
    source.onopen = () => {
      setConnected(true);
      if (down) readAnew(); // nobody told us what happened meanwhile, and what failed may work again
      down = false;
    };
    source.onerror = () => {
      down = true;
      setConnected(false);
    };
    source.onmessage = () => {
      timer ??= setTimeout(() => {
        timer = undefined;
        readAnew();
      }, GATHER);
    };
    return () => {
      clearTimeout(timer);
      source.close();
    };
  }, [workspaceId, queries]);
  return connected;
}
