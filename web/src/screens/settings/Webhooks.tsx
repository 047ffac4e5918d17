import { Badge, Button, Group, MultiSelect, Stack, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { useAct } from "../../api/act";
import { api, take, type Schemas } from "../../api/client";
import { useWorkspaceId } from "../../api/me";
import { Problem } from "../../api/problem";
import { askFirst } from "../../ui/ask";
import { Fetched } from "../../ui/Fetched";
import { Once } from "../../ui/Once";
import { Section } from "../../ui/Section";

const kinds = [
  { value: "delivery.sent", label: "A delivery was sent" },
  { value: "delivery.failed", label: "A delivery failed" },
  { value: "delivery.missed", label: "A delivery was missed" },
  { value: "delivery.unconfirmed", label: "A delivery is in doubt" },
  { value: "delivery.at_risk", label: "A delivery will not go out as it is" },
  { value: "delivery.unapproved", label: "A delivery waits for approval and is due soon" },
  { value: "account.needs_reconnect", label: "An account must be connected again" },
  { value: "queue.dry", label: "A queue runs dry" },
];

export function Webhooks() {
  const workspace_id = useWorkspaceId();
  const params = { path: { workspace_id } };
  const [secret, setSecret] = useState<string | null>(null);
  const form = useForm({ initialValues: { url: "", kinds: [] as string[] } });
  const hooks = useQuery({
    queryKey: [workspace_id, "webhooks"],
    queryFn: () => take(api.GET("/api/v1/workspaces/{workspace_id}/webhooks", { params })),
  });
  const add = useAct((body: typeof form.values) => take(api.POST("/api/v1/workspaces/{workspace_id}/webhooks", { params, body })), {
    after: (answer) => {
      setSecret(answer.secret);
      form.reset();
    },
    refused: (error) => {
      if (!(error instanceof Problem)) return false;
      form.setErrors({ url: error.fields.url ?? error.message });
      return true;
    },
  });
  return (
    <Section title="Webhooks" says="Programs that are told what happens, with a signature they can check.">
      {secret !== null && (
        <Once
          title="The signing secret"
          says="Your program checks signatures with it. It is not shown again."
          secret={secret}
          onClose={() => setSecret(null)}
        />
      )}
      <form onSubmit={form.onSubmit((values) => add.mutate(values))}>
        <Stack gap="sm">
          <TextInput label="Address" type="url" placeholder="https://example.org/hook" required {...form.getInputProps("url")} />
          <MultiSelect
            label="Told of"
            placeholder={form.values.kinds.length === 0 ? "Everything" : undefined}
            data={kinds}
            clearable
            {...form.getInputProps("kinds")}
          />
          <Button type="submit" w="fit-content" loading={add.isPending}>
            Add the webhook
          </Button>
        </Stack>
      </form>
      <Fetched query={hooks} rows={1}>
        {(rows) =>
          rows.length === 0 ? (
            <Text size="sm" c="dimmed">
              No program is told yet.
            </Text>
          ) : (
            <Stack gap="sm">
              {rows.map((each) => (
                <HookRow key={each.id} hook={each} />
              ))}
            </Stack>
          )
        }
      </Fetched>
    </Section>
  );
}

function HookRow({ hook }: { hook: Schemas["Webhook"] }) {
  const workspace_id = useWorkspaceId();
  const drop = useAct(
    () =>
      take(
        api.DELETE("/api/v1/workspaces/{workspace_id}/webhooks/{webhook_id}", {
          params: { path: { workspace_id, webhook_id: hook.id } },
        }),
      ),
    { done: () => "It is told no more." },
  );
  const end = async () => {
    const says = `${hook.url} is told no more, and what waits for it is dropped.`;
    if (await askFirst({ title: "Remove this webhook?", says, yes: "Remove", danger: true })) drop.mutate();
  };
  return (
    <Group justify="space-between" wrap="nowrap" align="flex-start">
      <div style={{ minWidth: 0 }}>
        <Text size="sm" style={{ overflowWrap: "anywhere" }}>
          {hook.url}
        </Text>
        <Text size="xs" c="dimmed">
          {hook.kinds.length === 0 ? "Everything" : hook.kinds.join(", ")}
          {hook.stop_reason !== null && ` · stopped: ${hook.stop_reason}`}
        </Text>
      </div>
      <Group gap="xs" wrap="nowrap">
        {!hook.active && (
          <Badge variant="outline" color="red" tt="none" style={{ color: "var(--mantine-color-text)" }}>
            Stopped
          </Badge>
        )}
        <Button size="compact-sm" variant="subtle" color="red" onClick={() => void end()} aria-label={`Remove ${hook.url}`}>
          Remove
        </Button>
      </Group>
    </Group>
  );
}
