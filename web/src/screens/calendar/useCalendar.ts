// What is due between two instants, and moving it: one query for month, week, day and agenda.
import { keepPreviousData, useQuery, type UseMutationResult } from "@tanstack/react-query";

import { useNamed } from "../../api/accounts";
import { useAct } from "../../api/act";
import { api, take, type AnswerOf, type Schemas } from "../../api/client";
import { useWorkspaceId } from "../../api/me";
import { tellProblem } from "../../ui/tell";
import { momentThere, onClock } from "../../ui/times";
import { t } from "../../messages/calendar";

const CALENDAR = "/api/v1/workspaces/{workspace_id}/calendar";
export type CalendarView = AnswerOf<typeof CALENDAR, "get">;
export type Entry = CalendarView["entries"][number];
export type Ghost = CalendarView["free"][number];

const PAGE = 200;
const MOST_PAGES = 10;

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

export interface Undated {
  posts: Schemas["PostView"][];
  /** There are more drafts than were looked through. */
  more: boolean;
}

/** Drafts that have no date yet. What rules laid out has one, so it may take several pages to find the others. */
export function useUndated(enough: number) {
  const workspaceId = useWorkspaceId();
  return useQuery({
    queryKey: [workspaceId, "undated", enough],
    queryFn: async (): Promise<Undated> => {
      const posts: Undated["posts"] = [];
      let cursor: string | undefined;
      for (let page = 0; page < MOST_PAGES; page++) {
        const found = await take(
          api.GET("/api/v1/workspaces/{workspace_id}/posts", {
            params: { path: { workspace_id: workspaceId }, query: { state: ["draft"], limit: PAGE, cursor } },
          }),
        );
        posts.push(...found.items.filter(({ scheduled_at: at }) => at === null));
        cursor = found.next ?? undefined;
        if (cursor === undefined) return { posts, more: false };
        if (posts.length > enough) break;
      }
      return { posts, more: true };
    },
  });
}

export interface Time {
  at: string;
  /** On a slot of the queue; else timed by hand. */
  slot: boolean;
}

export interface Plan extends Time {
  postId: string;
  accountId: string;
  channel?: string;
  zone: string;
  /** Where it stood before; null: nowhere, it is new on this account. */
  was: Time | null;
}

/** Another time for what stands in the calendar. */
export function planOf({ pill, in_slot }: Entry, time: Time, zone: string): Plan {
  return { postId: pill.post_id, accountId: pill.account_id, channel: pill.channel, ...time, zone, was: { at: pill.at, slot: in_slot } };
}

/** Give a post another instant, with a way back; on a slot it is the queue's, between slots timed by hand. */
export function usePlan(): UseMutationResult<string[], Error, Plan> {
  const workspaceId = useWorkspaceId();
  const named = useNamed();
  const takeBack = useAct(
    "post",
    ({ postId, deliveries }: { postId: string; deliveries: string[] }) =>
      take(
        api.POST("/api/v1/workspaces/{workspace_id}/posts/{post_id}/cancel", {
          params: { path: { workspace_id: workspaceId, post_id: postId } },
          body: { deliveries, reason: t("movedBackFromTheCalendar") },
        }),
      ),
    { done: () => t("movedBackItHasNoDate") },
  );
  const plan: UseMutationResult<string[], Error, Plan> = useAct<Plan, string[]>("post", (asked) => carry(workspaceId, asked), {
    done: (_, { accountId, at, zone, slot }) => named(accountId, slot ? t("nowGoesOutTime", { time: momentThere(at, zone) }) : t("nowGoesOutTimeItHas", { time: momentThere(at, zone) })),
    undo: (deliveries, asked) => {
      const { was } = asked;
      if (was === null) return () => takeBack.mutate({ postId: asked.postId, deliveries });
      return () => plan.mutate({ ...asked, ...was, was: { at: asked.at, slot: asked.slot } });
    },
    refused: (error, { zone }) => {
      tellProblem(new Error(onClock(error.message, zone)), t("notMoved"));
      return true;
    },
  });
  return plan;
}

/** Return the deliveries that got the time. */
async function carry(workspace_id: string, { postId, accountId, channel, at, slot, was }: Plan): Promise<string[]> {
  const seen_at = was?.at; // whoever moved it meanwhile is not overruled unseen
  if (slot) {
    const taken = await take(
      api.POST("/api/v1/workspaces/{workspace_id}/accounts/{account_id}/queue/slots", {
        params: { path: { workspace_id, account_id: accountId } },
        body: { post_id: postId, at, seen_at },
      }),
    );
    return taken.ids;
  }
  const timed = await take(
    api.POST("/api/v1/workspaces/{workspace_id}/posts/{post_id}/schedule", {
      params: { path: { workspace_id, post_id: postId } },
      body: { at, seen_at, accounts: [{ account_id: accountId, channel: (channel ?? null) as never }] },
    }),
  );
  return timed.places.map((each) => each.delivery_id);
}
