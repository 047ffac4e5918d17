// What is due between two instants, and moving it: one query for month, week, day and agenda.
import { keepPreviousData, useQuery, type UseMutationResult } from "@tanstack/react-query";

import { useAct } from "../../api/act";
import { api, take, type AnswerOf } from "../../api/client";
import { useWorkspaceId } from "../../api/me";
import { moment } from "../../ui/times";

const CALENDAR = "/api/v1/workspaces/{workspace_id}/calendar";
export type CalendarView = AnswerOf<typeof CALENDAR, "get">;
export type Entry = CalendarView["entries"][number];
export type Ghost = CalendarView["free"][number];

export interface Span {
  start: string;
  end: string;
}

export function useCalendar(span: Span | null, zone: string | undefined, accountId: string | null) {
  const workspaceId = useWorkspaceId();
  return useQuery({
    queryKey: [workspaceId, "calendar", span, zone, accountId],
    queryFn: () =>
      take(
        api.GET(CALENDAR, {
          params: {
            path: { workspace_id: workspaceId },
            query: { ...span, zone, account_id: accountId === null ? undefined : [accountId] },
          },
        }),
      ),
    enabled: span !== null && zone !== undefined,
    placeholderData: keepPreviousData,
  });
}

/** Drafts that have no date yet. */
export function useUndated() {
  const workspaceId = useWorkspaceId();
  return useQuery({
    queryKey: [workspaceId, "undated"],
    queryFn: async () => {
      const page = await take(
        api.GET("/api/v1/workspaces/{workspace_id}/posts", {
          params: { path: { workspace_id: workspaceId }, query: { state: ["draft"], limit: 50 } },
        }),
      );
      return page.items.filter(({ scheduled_at: at }) => at === null);
    },
  });
}

interface Plan {
  postId: string;
  accountId: string;
  channel?: string;
  at: string;
  zone: string;
  was: string | null;
}

/** Give a post another instant, with a way back. */
export function usePlan(): UseMutationResult<unknown, Error, Plan> {
  const workspaceId = useWorkspaceId();
  const plan: UseMutationResult<unknown, Error, Plan> = useAct<Plan>(
    ({ postId, accountId, channel, at }: Plan) =>
      take(
        api.POST("/api/v1/workspaces/{workspace_id}/posts/{post_id}/schedule", {
          params: { path: { workspace_id: workspaceId, post_id: postId } },
          body: { at, accounts: [{ account_id: accountId, channel: channel as never }] },
        }),
      ),
    {
      done: (_, { at, zone }) => `Now goes out ${moment(at, zone)}.`,
      undo: (_, asked) => (asked.was === null ? undefined : () => plan.mutate({ ...asked, at: asked.was ?? asked.at, was: null })),
    },
  );
  return plan;
}
