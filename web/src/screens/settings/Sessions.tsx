import { Badge, Button, Group, Stack, Text } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";

import { useAct } from "../../api/act";
import { api, take } from "../../api/client";
import { askFirst } from "../../ui/ask";
import { Fetched } from "../../ui/Fetched";
import { Section } from "../../ui/Section";
import { ago } from "../../ui/times";
import { useNow } from "../../ui/useNow";
import { t } from "../../messages/settings";

export function Sessions() {
  const now = useNow();
  const queries = useQueryClient();
  const again = () => queries.invalidateQueries({ queryKey: ["me", "sessions"] });
  const sessions = useQuery({ queryKey: ["me", "sessions"], queryFn: () => take(api.GET("/api/v1/me/sessions")) });
  const end = useAct(
    "me",
    (session_id: string) => take(api.DELETE("/api/v1/me/sessions/{session_id}", { params: { path: { session_id } } })),
    { done: () => t("signedOut"), after: again },
  );
  const endOthers = useAct("me", () => take(api.DELETE("/api/v1/me/sessions")), {
    done: ({ ended }) => t("signedOutOfOtherSessions", { ended }),
    after: again,
  });
  const askEndOthers = async () => {
    const message = t("youllHaveToSignInAgain");
    if (await askFirst({ title: t("signOutEverywhereElseQuestion"), message, yes: t("signOut") })) endOthers.mutate();
  };
  return (
    <Section
      title={t("whereYoureSignedIn")}
      actions={
        <Button size="compact-sm" variant="default" loading={endOthers.isPending} onClick={() => void askEndOthers()}>
          {t("signOutEverywhereElse")}
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
                    {t("lastSeenWhen", { when: ago(each.seen_at, now) })}
                  </Text>
                </div>
                {each.current ? (
                  <Badge variant="outline" style={{ flex: "none" }}>
                    {t("thisBrowser")}
                  </Badge>
                ) : (
                  <Button size="compact-sm" variant="default" onClick={() => end.mutate(each.id)} aria-label={t("signOutBrowserAtAddress", { browser: browserOf(each.agent), address: each.address })}>
                    {t("signOut")}
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
  const browser = browsers.find((each) => agent.includes(each)) ?? t("unknownBrowser");
  const system = systems.find((each) => agent.includes(each));
  const named = { Edg: "Edge", OPR: "Opera" }[browser] ?? browser;
  return system === undefined ? named : t("browserOn", { browser: named, system: system === "Mac OS X" ? "macOS" : system });
}
