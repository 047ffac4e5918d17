import { useQuery } from "@tanstack/react-query";
import { act, screen, waitFor } from "@testing-library/react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { asked, refuse, serve } from "../test/server";
import { ada, HOME, show } from "../test/stage";
import { useLive } from "./live";
import { onSessionEnd } from "./session";

/** The browser's own: it reconnects when a stream breaks, and never when one was refused. */
class Stream {
  static readonly CLOSED = 2;
  static opened: Stream[] = [];
  readyState = 0;
  onopen: (() => void) | null = null;
  onerror: (() => void) | null = null;
  onmessage: ((event: { data: string }) => void) | null = null;
  constructor(readonly url: string) {
    Stream.opened.push(this);
  }
  close() {
    this.readyState = Stream.CLOSED;
  }
  tell(kind: string) {
    this.onmessage?.({ data: JSON.stringify({ kind }) });
  }
  refused() {
    this.readyState = Stream.CLOSED;
    this.onerror?.();
  }
}

function Frame() {
  return <p>{useLive(HOME) ? "live" : "not live"}</p>;
}

/** A screen that shows something of everything. */
function Screen() {
  useLive(HOME);
  const read = async (name: string) => (await fetch(`/${name}`)).text();
  for (const name of shown) useQuery({ queryKey: [HOME, name], queryFn: () => read(name) }); // a constant list: the same hooks each time
  return null;
}
const shown = ["queue", "posts", "accounts", "members", "keys", "rules", "library"];
const reads = () => asked.map(({ url }) => new URL(url).pathname.slice(1));

function setHidden(hidden: boolean) {
  vi.spyOn(document, "hidden", "get").mockReturnValue(hidden);
  document.dispatchEvent(new Event("visibilitychange"));
}

async function standing() {
  serve(() => ({}));
  show(<Screen />);
  act(() => Stream.opened[0]?.onopen?.());
  await waitFor(() => expect(reads()).toHaveLength(shown.length));
  asked.length = 0;
}

beforeEach(() => {
  Stream.opened = [];
  vi.stubGlobal("EventSource", Stream);
  vi.useFakeTimers({ shouldAdvanceTime: true });
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

it("opens a refused stream again, ever more slowly, until it stands", async () => {
  serve(() => ada);
  show(<Frame />);
  act(() => Stream.opened[0]?.refused());
  expect(screen.getByText("not live")).toBeTruthy();
  await act(() => vi.advanceTimersByTimeAsync(2_100));
  expect(Stream.opened).toHaveLength(2);
  act(() => Stream.opened[1]?.refused());
  await act(() => vi.advanceTimersByTimeAsync(2_100));
  expect(Stream.opened).toHaveLength(2);
  await act(() => vi.advanceTimersByTimeAsync(2_100));
  expect(Stream.opened).toHaveLength(3);
  act(() => Stream.opened[2]?.onopen?.());
  expect(screen.getByText("live")).toBeTruthy();
});

it("finds out that the session is over when the stream is refused", async () => {
  const over = vi.fn();
  onSessionEnd(over);
  serve(() => refuse(401, "not_signed_in", "Sign in first."));
  show(<Frame />);
  act(() => Stream.opened[0]?.refused());
  await waitFor(() => expect(over).toHaveBeenCalledOnce());
});

it("leaves a stream that only broke to the browser", async () => {
  show(<Frame />);
  act(() => Stream.opened[0]?.onerror?.());
  await act(() => vi.advanceTimersByTimeAsync(60_000));
  expect(Stream.opened).toHaveLength(1);
});

it("reads again what an event touches, once for a burst, and nothing else", async () => {
  await standing();
  act(() => ["key.make", "post.edit", "post.approve"].forEach((kind) => Stream.opened[0]?.tell(kind)));
  await act(() => vi.advanceTimersByTimeAsync(1_000));
  expect(reads().toSorted()).toEqual(["keys", "posts", "queue"]);
});

it("reads everything again after an event of a kind that it does not know", async () => {
  await standing();
  act(() => Stream.opened[0]?.tell("installation.held"));
  await act(() => vi.advanceTimersByTimeAsync(1_000));
  expect(reads().toSorted()).toEqual(shown.toSorted());
});

it("holds no line while nobody sees the page, and reads everything again when somebody does", async () => {
  await standing();
  act(() => setHidden(true));
  expect(Stream.opened[0]?.readyState).toBe(Stream.CLOSED);
  await act(() => vi.advanceTimersByTimeAsync(60_000));
  expect(Stream.opened).toHaveLength(1);
  asked.length = 0;
  act(() => setHidden(false));
  expect(Stream.opened).toHaveLength(2);
  act(() => Stream.opened[1]?.onopen?.());
  await waitFor(() => expect(new Set(reads())).toEqual(new Set(shown)));
});

it("opens no line for a page that was opened behind another", async () => {
  setHidden(true);
  serve(() => ({}));
  show(<Screen />);
  expect(Stream.opened).toHaveLength(0);
});
