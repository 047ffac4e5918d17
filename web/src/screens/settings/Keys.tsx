import { Badge, Button, Group, Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconKey, IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { useAct } from "../../api/act";
import { api, take, type Schemas } from "../../api/client";
import { useMe, useWorkspaceId } from "../../api/me";
import { askFirst } from "../../ui/ask";
import { Empty } from "../../ui/Empty";
import { Fetched } from "../../ui/Fetched";
import { Once } from "../../ui/Once";
import { roleWord } from "../../ui/roles";
import { Section } from "../../ui/Section";
import { ago, momentThere } from "../../ui/times";
import { useNow } from "../../ui/useNow";
import { NewKey } from "./NewKey";
import { t } from "../../messages/settings";

export function Keys() {
  const workspace_id = useWorkspaceId();
  const [making, { open, close }] = useDisclosure();
  const [made, setMade] = useState<string | null>(null);
  const keys = useQuery({
    queryKey: [workspace_id, "keys"],
    queryFn: () => take(api.GET("/api/v1/workspaces/{workspace_id}/keys", { params: { path: { workspace_id } } })),
  });
  return (
    <Section
      title={t("apiKeys")}
      message={t("letScriptsAndAppsWorkWith")}
      actions={
        <Button size="compact-md" leftSection={<IconPlus size={16} aria-hidden />} onClick={open}>
          {t("newKey")}
        </Button>
      }
    >
      {made !== null && (
        <Once
          title={t("yourNewKey")}
          message={t("copyItNowYouWontSee")}
          secret={made}
          onClose={() => setMade(null)}
        />
      )}
      <NewKey opened={making} onClose={close} onMade={setMade} />
      <Fetched query={keys} rows={2}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty icon={IconKey} title={t("noKeysYet")}>
              {t("scriptsOtherAppsAndAssistantsUse")}
            </Empty>
          ) : (
            <Stack gap="sm">
              {rows.map((each) => (
                <KeyRow key={each.id} shown={each} />
              ))}
            </Stack>
          )
        }
      </Fetched>
    </Section>
  );
}

function KeyRow({ shown }: { shown: Schemas["KeyView"] }) {
  const workspace_id = useWorkspaceId();
  const now = useNow();
  const { zone } = useMe();
  const revoke = useAct(
    "key",
    () => take(api.DELETE("/api/v1/workspaces/{workspace_id}/keys/{key_id}", { params: { path: { workspace_id, key_id: shown.id } } })),
    { done: () => t("nameIsRevokedAndNoLonger", { name: shown.name }) },
  );
  const end = async () => {
    const message = t("anythingThatUsesItStopsWorking");
    if (await askFirst({ title: t("revokeNameQuestion", { name: shown.name }), message, yes: t("revoke"), danger: true })) revoke.mutate();
  };
  const over = shown.revoked_at !== null || (shown.ends_at !== null && new Date(shown.ends_at) < now);
  const facts = [
    roleWord(shown.role),
    shown.accounts === null ? t("allAccountsInSentence") : t("accountCount", { accounts: shown.accounts.length }),
    shown.publish_per_day === null ? null : t("atMostPostsPerDay", { publishPerDay: shown.publish_per_day }),
    shown.ends_at === null ? null : t("expiresTime", { time: momentThere(shown.ends_at, zone) }),
    shown.last_used_at === null ? t("neverUsed") : t("usedWhen", { when: ago(shown.last_used_at, now) }),
  ];
  return (
    <Group justify="space-between" align="flex-start" wrap="nowrap">
      <div style={{ minWidth: 0 }}>
        <Group gap={6}>
          <Text size="sm" fw={600}>
            {shown.name}
          </Text>
          <Text size="xs" ff="monospace" c="dimmed">
            {shown.prefix}…
          </Text>
        </Group>
        <Text size="xs" c="dimmed">
          {facts.filter((each) => each !== null).join(" · ")}
        </Text>
        <Text size="xs" c="dimmed" style={{ overflowWrap: "anywhere" }}>
          {shown.scopes.join(", ")}
        </Text>
      </div>
      {over ? (
        <Badge variant="outline" color="gray" style={{ flex: "none" }}>
          {shown.revoked_at === null ? t("expired") : t("revoked")}
        </Badge>
      ) : (
        <Button size="compact-sm" variant="subtle" color="red" style={{ flex: "none" }} onClick={() => void end()} aria-label={t("revokeName", { name: shown.name })}>
          {t("revoke")}
        </Button>
      )}
    </Group>
  );
}
