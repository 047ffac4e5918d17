import { Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";

import { api, take, type Schemas } from "../../api/client";
import { useWorkspaceId } from "../../api/me";
import { useMembers } from "../../api/members";
import { Fetched } from "../../ui/Fetched";
import { Section } from "../../ui/Section";
import { momentThere, onClock } from "../../ui/times";
import { asSentence } from "../../ui/words";
import { t } from "../../messages/activity";

type Event = Schemas["EventView"];

/** What happened to the post: who did what, which calls were made, what came of it; the newest first. */
export function Story({ postId, zone }: { postId: string; zone: string }) {
  const workspace_id = useWorkspaceId();
  const story = useQuery({
    queryKey: [workspace_id, "story", postId],
    queryFn: () =>
      take(api.GET("/api/v1/workspaces/{workspace_id}/posts/{post_id}/activity", { params: { path: { workspace_id, post_id: postId }, query: { limit: 50 } } })),
  });
  const members = useMembers();
  const who = (by: string | null) => {
    if (by === null) return "";
    const member = members.data?.find(({ id }) => by === `member:${id}`);
    return ` · ${member?.name ?? (by.startsWith("key:") ? t("anApiKey") : by.startsWith("rule:") ? t("aRule") : by)}`;
  };
  return (
    <Section title={t("history")}>
      <Fetched query={story} rows={2}>
        {(events) => (
          <Stack component="ol" gap={6} p={0} m={0} style={{ listStyle: "none" }}>
            {told(events).map((event, index) => (
              <li key={index}>
                <Text size="sm" style={{ overflowWrap: "anywhere" }}>
                  {asSentence(onClock(event.message, zone))}
                </Text>
                <Text size="xs" c="dimmed">
                  {momentThere(event.at, zone)}
                  {who(event.by)}
                </Text>
              </li>
            ))}
          </Stack>
        )}
      </Fetched>
    </Section>
  );
}

/** Each thing once: a call that ended tells of its beginning, and of the news that it made. */
function told(events: Event[]): Event[] {
  const ended = events.filter(({ kind }) => kind === "attempt.ended");
  const calls = new Set(ended.map(({ details }) => details.attempt));
  const news = new Set(ended.map(({ delivery_id, at }) => `${delivery_id} ${at}`));
  return events.filter(
    (each) => !(each.kind === "attempt.began" && calls.has(each.details.attempt)) && !(each.kind.startsWith("delivery.") && each.by === null && news.has(`${each.delivery_id} ${each.at}`)),
  );
}
