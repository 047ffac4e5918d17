// What happens in the workspace, as it happens: an event makes stale what it touches (touches.ts), and that is read again.
// A stream that breaks comes back by itself; one that was refused (a gateway's word, an ended session) is opened again,
// ever more slowly, after a look at whether we are still signed in. A page that nobody sees holds no stream: browsers
// open six lines to a server, so a seventh tab would wait for ever. Seen again, it reads everything again.
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";

import { meQuery } from "./me";
import { readAnew } from "./touches";

const GATHER = 250; // milliseconds: a burst of events is one refresh
const FIRST_WAIT = 2_000;
const LONGEST_WAIT = 30_000;

/** Follow a workspace; say whether the stream stands. */
export function useLive(workspaceId: string): boolean {
  const queries = useQueryClient();
  const [connected, setConnected] = useState(true);
  useEffect(() => {
    let source: EventSource | undefined;
    let gathering: ReturnType<typeof setTimeout> | undefined;
    let waiting: ReturnType<typeof setTimeout> | undefined;
    let wait = FIRST_WAIT;
    let missed = false; // nobody tells what happened while there was no stream
    const told = new Set<string>(); // what the events of a burst are about
    const readStale = () => {
      gathering = undefined;
      void readAnew(queries, workspaceId, told);
      told.clear();
    };
    const open = () => {
      source = new EventSource(`/api/v1/workspaces/${encodeURIComponent(workspaceId)}/events`);
      source.onopen = () => {
        setConnected(true);
        if (missed) void readAnew(queries, workspaceId, ["workspace"]);
        missed = false;
        wait = FIRST_WAIT;
      };
      source.onerror = () => {
        missed = true;
        setConnected(false);
        if (source?.readyState !== EventSource.CLOSED) return; // it tries again by itself
        // Who is no longer signed in is led to the door by the answer to this.
        queries.fetchQuery({ ...meQuery, staleTime: 0 }).catch(() => undefined);
        waiting = setTimeout(open, wait);
        wait = Math.min(2 * wait, LONGEST_WAIT);
      };
      source.onmessage = ({ data }: MessageEvent<string>) => {
        told.add(subjectOf(data));
        gathering ??= setTimeout(readStale, GATHER);
      };
    };
    const close = () => {
      clearTimeout(waiting);
      source?.close();
      source = undefined;
      missed = true;
    };
    const seen = () => (document.hidden ? close() : source === undefined && open());
    missed = document.hidden;
    seen();
    document.addEventListener("visibilitychange", seen);
    return () => {
      document.removeEventListener("visibilitychange", seen);
      clearTimeout(gathering);
      close();
    };
  }, [workspaceId, queries]);
  return connected;
}

/** The first word of an event's kind says what it is about. */
function subjectOf(data: string): string {
  const { kind } = JSON.parse(data) as { kind: string };
  return kind.split(".")[0] ?? "";
}
