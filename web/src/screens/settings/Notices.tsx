import { Alert, SegmentedControl, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";

import { useAct } from "../../api/act";
import { api, take, type Schemas } from "../../api/client";
import { useWorkspaceId } from "../../api/me";
import { Fetched } from "../../ui/Fetched";
import { Section } from "../../ui/Section";

type Topic = Schemas["Topic"];
type Choice = Schemas["Choices"]["choices"][string];

const topics: Record<string, { name: string; says: string }> = {
  published: { name: "Published", says: "A post is out." },
  failed: { name: "Trouble with a post", says: "It failed, was missed, is unconfirmed, or will not go out as it is." },
  account: { name: "Accounts and queues", says: "An account must be connected again, or a queue runs dry." },
};
const choices = [
  { value: "each", label: "At once" },
  { value: "digest", label: "Once a day" },
  { value: "off", label: "Never" },
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
    { done: () => "Your choice is kept." },
  );
  return (
    <Section title="Mails to you" says="Of this workspace only. Others choose for themselves.">
      <Fetched query={chosen} rows={3}>
        {(answer) => (
          <Stack gap="md">
            {!answer.mail && (
              <Alert color="yellow" title="This Cadenza cannot send mail">
                No mail server is set, so nothing reaches you. What is chosen here counts as soon as there is one. Webhooks work without it.
              </Alert>
            )}
            {(Object.entries(answer.choices) as [Topic, Choice][]).map(([topic, choice]) => (
              <div key={topic}>
                <Text fw={600}>{topics[topic]?.name ?? topic}</Text>
                <Text size="sm" c="dimmed" mb={4}>
                  {topics[topic]?.says}
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
