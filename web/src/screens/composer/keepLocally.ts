// What was typed and not saved stays in this browser, so that a reload or a crash loses nothing.
import { useCallback, useEffect, useRef, useState } from "react";

import type { Content } from "./content";

export interface Kept {
  content: Content;
  revision: number | null;
  at: string;
}

const name = (workspaceId: string, postId: string | null) => `cadenza.composer.${workspaceId}.${postId ?? "new"}`;

export function readKept(workspaceId: string, postId: string | null): Kept | null {
  try {
    const text = localStorage.getItem(name(workspaceId, postId));
    return text === null ? null : (JSON.parse(text) as Kept);
  } catch {
    return null; // written by another version, or the browser keeps nothing
  }
}

/** Hold what is typed; `changed` says that it differs from what is saved. `begin` has the last word on what was found. */
export function useKept(workspaceId: string, postId: string | null, saved: Content, revision: number | null, begin = (found: Content) => found) {
  const [found, setFound] = useState(() => readKept(workspaceId, postId));
  const [content, setContent] = useState<Content>(() => (found === null ? saved : begin(found.content)));
  const changed = JSON.stringify(content) !== JSON.stringify(saved);
  const isKept = useRef(found !== null);
  const forget = useCallback(() => {
    isKept.current = false;
    localStorage.removeItem(name(workspaceId, postId));
    setFound(null);
  }, [workspaceId, postId]);
  useEffect(() => {
    if (!changed) {
      if (isKept.current) forget(); // as it is saved: to bring it back later would undo what was saved since
      return;
    }
    const kept: Kept = { content, revision: found?.revision ?? revision, at: new Date().toISOString() };
    try {
      localStorage.setItem(name(workspaceId, postId), JSON.stringify(kept));
      isKept.current = true;
    } catch {
      // The browser's room is full: the text is still on the screen.
    }
  }, [content, changed, workspaceId, postId, revision, found, forget]);
  return { content, setContent, changed, found, forget };
}
