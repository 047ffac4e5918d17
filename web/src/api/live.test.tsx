import { act, screen, waitFor } from "@testing-library/react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { refuse, serve } from "../test/server";
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
  onmessage: (() => void) | null = null;
  constructor(readonly url: string) {
    Stream.opened.push(this);
  }
  close() {
    this.readyState = Stream.CLOSED;
  }
  refused() {
    this.readyState = Stream.CLOSED;
    this.onerror?.();
  }
}

function Frame() {
  return <p>{useLive(HOME) ? "live" : "not live"}</p>;
}

beforeEach(() => {
  Stream.opened = [];
  vi.stubGlobal("EventSource", Stream);
  vi.useFakeTimers({ shouldAdvanceTime: true });
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

it("opens a refused stream anew, ever more slowly, until it stands", async () => {
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
