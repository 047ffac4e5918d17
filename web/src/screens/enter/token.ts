// The token of a link. It stands behind the #, which browsers keep to themselves: no server log sees it.
import { useEffect, useState } from "react";

/** Read a token off an address: "#token=abc", or "?token=abc" of an older link. */
export function tokenOf(at: { hash: string; search: string }): string {
  const behind = new URLSearchParams(at.hash.replace(/^#/, "")).get("token");
  return behind ?? new URLSearchParams(at.search).get("token") ?? "";
}

/** The token that somebody typed; whoever takes the whole link for it means its token. */
export function tokenIn(typed: string): string {
  const words = typed.trim();
  return URL.canParse(words) ? tokenOf(new URL(words)) || words : words;
}

/** The token of this page's address, also when a link is opened over an open page: of it only the end changes. */
export function useToken(): string {
  const [token, setToken] = useState(() => tokenOf(window.location));
  useEffect(() => {
    const read = () => setToken((old) => tokenOf(window.location) || old);
    window.addEventListener("hashchange", read);
    return () => window.removeEventListener("hashchange", read);
  }, []);
  return token;
}
