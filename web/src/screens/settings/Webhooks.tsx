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
import { t } from "../../messages/settings";

type Kind = Schemas["EventKind"];

const words: Record<Kind, string> = {
  "delivery.sent": t("aPostWasSent"),
  "delivery.failed": t("aPostFailed"),
  "delivery.missed": t("aPostWasMissed"),
  "delivery.unconfirmed": t("aPostIsUnconfirmed"),
  "delivery.at_risk": t("aPostCantBeSent"),
  "delivery.unapproved": t("aPostNeedsApprovalAndIs"),
  "account.expiring": t("anAccountsAccessExpiresSoon"),
  "account.needs_reconnect": t("anAccountNeedsReconnecting"),
  "account.suspended": t("anAccountIsSuspended"),
  "account.limited": t("anAccountIsLimited"),
  "installation.held": t("sendingIsOnHold"),
  "queue.dry": t("aQueueIsRunningOutOf"),
  "import.done": t("anImportIsDone"),
  "contact.subscribed": t("somebodySubscribed"),
  "contact.unsubscribed": t("somebodyUnsubscribed"),
  "campaign.completed": t("aCampaignIsCompleted"),
  "campaign.paused": t("aCampaignPausedItself"),
  "inbox.replied": t("somebodyReplied"),
  "inbox.bounced": t("aMessageBounced"),
  "inbox.complained": t("somebodyComplained"),
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
    <Section title={t("webhooks")} message={t("sendEventsToYourOwnApps")}>
      {secret !== null && (
        <Once
          title={t("signingSecret")}
          message={t("useItToVerifySignaturesYou")}
          secret={secret}
          onClose={() => setSecret(null)}
        />
      )}
      <form onSubmit={form.onSubmit((values) => add.mutate(values))}>
        <Stack gap="sm">
          <TextInput label={t("url")} type="url" placeholder="https://example.org/hook" required {...form.getInputProps("url")} />
          <MultiSelect
            label={t("events")}
            placeholder={form.values.kinds.length === 0 ? t("allEvents") : undefined}
            data={kinds}
            clearable
            {...form.getInputProps("kinds")}
          />
          <Button type="submit" w="fit-content" loading={add.isPending}>
            {t("addWebhook")}
          </Button>
        </Stack>
      </form>
      <Fetched query={hooks} rows={1}>
        {(rows) =>
          rows.length === 0 ? (
            <Text size="sm" c="dimmed">
              {t("noWebhooksYet")}
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
    done: () => t("resumedItGetsEventsFromNow"),
  });
  const renew = useAct("webhook", () => take(api.POST("/api/v1/workspaces/{workspace_id}/webhooks/{webhook_id}/secret", { params })), {
    done: () => t("requestsAreSignedWithBothSecrets"),
    after: (answer) => onSecret(answer.secret),
  });
  const keepNewest = useAct("webhook", () => take(api.DELETE("/api/v1/workspaces/{workspace_id}/webhooks/{webhook_id}/secret", { params })), {
    done: () => t("requestsAreSignedWithTheNewest"),
  });
  const askKeepNewest = async () => {
    const message = t("weStopSigningWithOlderSecrets");
    if (await askFirst({ title: t("removeOldSecrets"), message, yes: t("remove"), danger: true })) keepNewest.mutate();
  };
  const drop = useAct(
    "webhook",
    () =>
      take(
        api.DELETE("/api/v1/workspaces/{workspace_id}/webhooks/{webhook_id}", {
          params: { path: { workspace_id, webhook_id: hook.id } },
        }),
      ),
    { done: () => t("webhookRemoved") },
  );
  const end = async () => {
    const message = t("urlGetsNoMoreEventsAnd", { url: hook.url });
    if (await askFirst({ title: t("removeThisWebhook"), message, yes: t("remove"), danger: true })) drop.mutate();
  };
  return (
    <Group justify="space-between" wrap="nowrap" align="flex-start">
      <div style={{ minWidth: 0 }}>
        <Text size="sm" style={{ overflowWrap: "anywhere" }}>
          {hook.url}
        </Text>
        <Text size="xs" c="dimmed">
          {hook.kinds.length === 0 ? t("allEvents") : hook.kinds.map(kindWords).join(", ")}
        </Text>
        {!hook.active && <Text size="sm">{t("stoppedReason", { reason: stopped(hook.stop_reason ?? t("itHasntAnsweredForDays")) })}</Text>}
      </div>
      <Group gap="xs" wrap="nowrap">
        {!hook.active && (
          <Badge variant="outline" color="red">
            {t("stopped")}
          </Badge>
        )}
        {!hook.active && (
          <Button size="compact-sm" loading={resume.isPending} onClick={() => resume.mutate()} aria-label={t("resumeUrl", { url: hook.url })}>
            {t("resume")}
          </Button>
        )}
        <Menu position="bottom-end">
          <Menu.Target>
            <Button size="compact-sm" variant="default" aria-label={t("moreActionsForUrl", { url: hook.url })}>
              {t("more")}
            </Button>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item onClick={() => renew.mutate()}>{t("createANewSecret")}</Menu.Item>
            <Menu.Item onClick={() => void askKeepNewest()}>{t("removeOldSecretsDots")}</Menu.Item>
            <Menu.Item color="red" onClick={() => void end()}>
              {t("removeDots")}
            </Menu.Item>
          </Menu.Dropdown>
        </Menu>
      </Group>
    </Group>
  );
}
