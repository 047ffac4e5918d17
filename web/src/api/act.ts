// One act of a person: sent once, told when it is done or refused, and what it touched is read anew.
import { useMutation, useQueryClient, type UseMutationResult } from "@tanstack/react-query";

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

/** Do something about `about` in the workspace; afterwards what that touches is read again (touches.ts), and nothing else. */
export function useAct<Asked = void, Answer = unknown>(
  about: About | ((asked: Asked) => About),
  act: (asked: Asked) => Promise<Answer>,
  told: Told<Asked, Answer> = {},
): UseMutationResult<Answer, Error, Asked> {
  const queries = useQueryClient();
  const workspaceId = useWorkspaceId();
  return useMutation({
    mutationFn: act,
    onSuccess: (answer, asked) => {
      if (told.done !== undefined) tellDone(told.done(answer, asked), told.undo?.(answer, asked));
      return told.after?.(answer, asked);
    },
    onError: (error, asked) => {
      if (told.refused?.(error, asked) !== true) tellProblem(error);
    },
    onSettled: (_answer, _error, asked) => readAnew(queries, workspaceId, [typeof about === "string" ? about : about(asked)]),
  });
}
