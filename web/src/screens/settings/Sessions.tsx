import { Badge, Button, Group, Stack, Text } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";

import { useAct } from "../../api/act";
import { api, take } from "../../api/client";
import { askFirst } from "../../ui/ask";
import { Fetched } from "../../ui/Fetched";
import { Section } from "../../ui/Section";
import { ago } from "../../ui/times";
import { useNow } from "../../ui/useNow";
import { count } from "../../ui/words";

export function Sessions() {
  const now = useNow();
  const queries = useQueryClient();
  const again = () => queries.invalidateQueries({ queryKey: ["me", "sessions"] });
  const sessions = useQuery({ queryKey: ["me", "sessions"], queryFn: () => take(api.GET("/api/v1/me/sessions")) });
  const end = useAct(
    "me",
    (session_id: string) => take(api.DELETE("/api/v1/me/sessions/{session_id}", { params: { path: { session_id } } })),
    { done: () => "Signed out there.", after: again },
  );
  const endOthers = useAct("me", () => take(api.DELETE("/api/v1/me/sessions")), {
    done: ({ ended }) => `${count(ended, "other session")} ended.`,
    after: again,
  });
  const askEndOthers = async () => {
    const says = "Every other browser has to sign in again. What is half written there stays in that browser.";
    if (await askFirst({ title: "Sign out everywhere else?", says, yes: "Sign out there" })) endOthers.mutate();
  };
  return (
    <Section
      title="Where you are signed in"
      actions={
        <Button size="compact-sm" variant="default" loading={endOthers.isPending} onClick={() => void askEndOthers()}>
          Sign out everywhere else
        </Button>
      }
    >
      <Fetched query={sessions} rows={2}>
        {(rows) => (
          <Stack gap="xs">
            {rows.map((each) => (
              <Group key={each.id} justify="space-between" wrap="nowrap">
                <div style={{ minWidth: 0 }}>
                  <Text size="sm" truncate title={each.agent}>
                    {browserOf(each.agent)} · {each.address}
                  </Text>
                  <Text size="xs" c="dimmed">
                    Last seen {ago(each.seen_at, now)}
                  </Text>
                </div>
                {each.current ? (
                  <Badge variant="outline" style={{ flex: "none" }}>
                    This one
                  </Badge>
                ) : (
                  <Button size="compact-sm" variant="default" onClick={() => end.mutate(each.id)} aria-label={`Sign out ${browserOf(each.agent)} at ${each.address}`}>
                    Sign out
                  </Button>
                )}
              </Group>
            ))}
          </Stack>
        )}
      </Fetched>
    </Section>
  );
}

const browsers = ["Edg", "OPR", "Firefox", "Chrome", "Safari", "curl"];
const systems = ["Windows", "Android", "iPhone", "iPad", "Mac OS X", "Linux"];

/** "Firefox on Linux", as far as a browser says so of itself. */
export function browserOf(agent: string): string {
  const browser = browsers.find((each) => agent.includes(each)) ?? "A browser";
  const system = systems.find((each) => agent.includes(each));
  const named = { Edg: "Edge", OPR: "Opera" }[browser] ?? browser;
  return system === undefined ? named : `${named} on ${system === "Mac OS X" ? "macOS" : system}`;
}
