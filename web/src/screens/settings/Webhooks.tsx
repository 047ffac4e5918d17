import { Badge, Button, Group, Menu, MultiSelect, Stack, Text, TextInput } from "@mantine/core";
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
import { stopped } from "../../ui/words";

type Kind = Schemas["EventKind"];

const words: Record<Kind, string> = {
  "delivery.sent": "A delivery was sent",
  "delivery.failed": "A delivery failed",
  "delivery.missed": "A delivery was missed",
  "delivery.unconfirmed": "A delivery is unconfirmed",
  "delivery.at_risk": "A delivery will not go out as it is",
  "delivery.unapproved": "A delivery waits for approval and is due soon",
  "account.expiring": "An account's connection ends soon",
  "account.needs_reconnect": "An account must be connected again",
  "account.suspended": "An account is suspended",
  "installation.held": "All sending is held",
  "queue.dry": "A queue runs dry",
};
const kinds = Object.entries(words).map(([value, label]) => ({ value, label }));

export function Webhooks() {
  const workspace_id = useWorkspaceId();
  const params = { path: { workspace_id } };
  const [secret, setSecret] = useState<string | null>(null);
  const form = useForm({ initialValues: { url: "", kinds: [] as Kind[] } });
  const hooks = useQuery({
    queryKey: [workspace_id, "webhooks"],
    queryFn: () => take(api.GET("/api/v1/workspaces/{workspace_id}/webhooks", { params })),
  });
  const add = useAct("webhook", (body: typeof form.values) => take(api.POST("/api/v1/workspaces/{workspace_id}/webhooks", { params, body })), {
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
    <Section title="Webhooks" says="Send events to your own programs, signed so that they can check the sender.">
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
                <HookRow key={each.id} hook={each} onSecret={setSecret} />
              ))}
            </Stack>
          )
        }
      </Fetched>
    </Section>
  );
}

const kindWords = (kind: string): string => words[kind as Kind] ?? kind;

function HookRow({ hook, onSecret }: { hook: Schemas["Webhook"]; onSecret: (secret: string) => void }) {
  const workspace_id = useWorkspaceId();
  const params = { path: { workspace_id, webhook_id: hook.id } };
  const resume = useAct("webhook", () => take(api.POST("/api/v1/workspaces/{workspace_id}/webhooks/{webhook_id}/resume", { params })), {
    done: () => "It is told again, of what happens from now on.",
  });
  const renew = useAct("webhook", () => take(api.POST("/api/v1/workspaces/{workspace_id}/webhooks/{webhook_id}/secret", { params })), {
    done: () => "Both secrets sign now. Drop the old one when your program knows the new one.",
    after: (answer) => onSecret(answer.secret),
  });
  const keepNewest = useAct("webhook", () => take(api.DELETE("/api/v1/workspaces/{workspace_id}/webhooks/{webhook_id}/secret", { params })), {
    done: () => "Only the newest secret signs.",
  });
  const askKeepNewest = async () => {
    const says = "Signatures of older secrets are no longer sent. A program that knows only an older one refuses what it is told.";
    if (await askFirst({ title: "Sign with the newest secret alone?", says, yes: "Drop the old ones", danger: true })) keepNewest.mutate();
  };
  const drop = useAct(
    "webhook",
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
          {hook.kinds.length === 0 ? "Everything" : hook.kinds.map(kindWords).join(", ")}
        </Text>
        {!hook.active && <Text size="sm">Given up: {stopped(hook.stop_reason ?? "it did not answer for days")}</Text>}
      </div>
      <Group gap="xs" wrap="nowrap">
        {!hook.active && (
          <Badge variant="outline" color="red">
            Stopped
          </Badge>
        )}
        {!hook.active && (
          <Button size="compact-sm" loading={resume.isPending} onClick={() => resume.mutate()} aria-label={`Tell it again: ${hook.url}`}>
            Tell it again
          </Button>
        )}
        <Menu position="bottom-end">
          <Menu.Target>
            <Button size="compact-sm" variant="default" aria-label={`More for ${hook.url}`}>
              More
            </Button>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item onClick={() => renew.mutate()}>Make a new secret</Menu.Item>
            <Menu.Item onClick={() => void askKeepNewest()}>Drop old secrets…</Menu.Item>
            <Menu.Item color="red" onClick={() => void end()}>
              Remove…
            </Menu.Item>
          </Menu.Dropdown>
        </Menu>
      </Group>
    </Group>
  );
}
