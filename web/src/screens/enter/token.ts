// The token of a link. It stands behind the #, which browsers keep to themselves: no server log sees it.
import { useState } from "react";

/** Read a token off an address: "#token=abc", or "?token=abc" of an older link. */
export function tokenOf(at: { hash: string; search: string }): string {
  const behind = new URLSearchParams(at.hash.replace(/^#/, "")).get("token");
  return behind ?? new URLSearchParams(at.search).get("token") ?? "";
}

/** The token of this page's address, read once. */
export function useToken(): string {
  return useState(() => tokenOf(window.location))[0];
}
