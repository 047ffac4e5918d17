import { Alert, SegmentedControl, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";

import { useAct } from "../../api/act";
import { api, take, type Schemas } from "../../api/client";
import { useWorkspaceId } from "../../api/me";
import { Fetched } from "../../ui/Fetched";
import { Section } from "../../ui/Section";
import { t } from "../../messages/settings";

type Topic = Schemas["Topic"];
type Choice = Schemas["Choices"]["choices"][string];

const topics: Record<string, { name: string; message: string }> = {
  published: { name: t("published"), message: t("aPostWasPublished") },
  failed: { name: t("problemsWithPosts"), message: t("aPostFailedWasMissedIs") },
  account: { name: t("accountsAndQueues"), message: t("anAccountNeedsReconnectingOrA") },
};
const choices = [
  { value: "each", label: t("rightAway") },
  { value: "digest", label: t("onceADay") },
  { value: "off", label: t("never") },
];

export function Notices() {
  const workspace_id = useWorkspaceId();
  const params = { path: { workspace_id } };
  const chosen = useQuery({
    queryKey: [workspace_id, "notices"],
    queryFn: () => take(api.GET("/api/v1/workspaces/{workspace_id}/notices/choices", { params })),
  });
  const choose = useAct(
    "notices",
    (asked: { topic: Topic; choice: Choice }) =>
      take(
        api.PUT("/api/v1/workspaces/{workspace_id}/notices/choices", {
          params,
          body: { choices: { [asked.topic]: asked.choice } as Record<Topic, Choice> },
        }),
      ),
    { done: () => t("saved") },
  );
  return (
    <Section title={t("emailNotifications")} message={t("onlyForYouAndThisWorkspace")}>
      <Fetched query={chosen} rows={3}>
        {(answer) => (
          <Stack gap="md">
            {!answer.mail && (
              <Alert color="yellow" title={t("thisServerCantSendEmail")}>
                {t("noMailServerIsSetUp")}
              </Alert>
            )}
            {(Object.entries(answer.choices) as [Topic, Choice][]).map(([topic, choice]) => (
              <div key={topic}>
                <Text fw={600}>{topics[topic]?.name ?? topic}</Text>
                <Text size="sm" c="dimmed" mb={4}>
                  {topics[topic]?.message}
                </Text>
                <SegmentedControl
                  aria-label={topics[topic]?.name ?? topic}
                  data={choices}
                  value={choice}
                  onChange={(next) => choose.mutate({ topic, choice: next as Choice })}
                />
              </div>
            ))}
          </Stack>
        )}
      </Fetched>
    </Section>
  );
}
