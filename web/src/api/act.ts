// One act of a person: sent once however fast they click, told when it is done or refused, and what it touched is read
// again.
import { useMutation, useQueryClient, type MutateOptions, type UseMutationResult } from "@tanstack/react-query";
import { useRef } from "react";

import { tellDone, tellProblem } from "../ui/tell";
import { useWorkspaceId } from "./me";
import { readAnew, type About } from "./touches";

interface Told<Asked, Answer> {
  /** What to say when it is done. */
  done?: (answer: Answer, asked: Asked) => string;
  /** The way back, offered beside that word. */
  undo?: (answer: Answer, asked: Asked) => (() => unknown) | undefined;
  /** Return true where a refusal was dealt with, so that nothing more is told. */
  refused?: (error: Error, asked: Asked) => boolean | void;
  after?: (answer: Answer, asked: Asked) => unknown;
}

const nameOf = (asked: unknown): string => JSON.stringify(asked) ?? "";

/** Do something about `about` in the workspace; afterwards what that touches is read again (touches.ts), and nothing else. */
export function useAct<Asked = void, Answer = unknown>(
  about: About | ((asked: Asked) => About),
  act: (asked: Asked) => Promise<Answer>,
  told: Told<Asked, Answer> = {},
): UseMutationResult<Answer, Error, Asked> {
  const queries = useQueryClient();
  const workspaceId = useWorkspaceId();
  // The button is drawn as busy a moment after the click: a second click in between is the same act.
  const under = useRef(new Set<string>());
  const mutation = useMutation({
    mutationFn: act,
    onSuccess: (answer, asked) => {
      if (told.done !== undefined) tellDone(told.done(answer, asked), told.undo?.(answer, asked));
      return told.after?.(answer, asked);
    },
    onError: (error, asked) => {
      if (told.refused?.(error, asked) !== true) tellProblem(error);
    },
    onSettled: (_answer, _error, asked) => {
      under.current.delete(nameOf(asked));
      return readAnew(queries, workspaceId, [typeof about === "string" ? about : about(asked)]);
    },
  });
  const mutate = (asked: Asked, options?: MutateOptions<Answer, Error, Asked>) => {
    if (under.current.has(nameOf(asked))) return;
    under.current.add(nameOf(asked));
    mutation.mutate(asked, options);
  };
  return { ...mutation, mutate } as UseMutationResult<Answer, Error, Asked>;
}
