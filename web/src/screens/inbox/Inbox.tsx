// What people answered, over all accounts: a list of conversations, and the one that is open beside it.
import { Badge, Box, Button, Group, SegmentedControl, Select, SimpleGrid, Stack, Text, UnstyledButton } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { IconInbox } from "@tabler/icons-react";
import { useNavigate, useParams } from "react-router";

import { useAccounts } from "../../api/accounts";
import { api, take, type Schemas } from "../../api/client";
import { useWorkspaceId } from "../../api/me";
import { useMembers } from "../../api/members";
import { accountLabel } from "../../ui/AccountChoice";
import { Empty } from "../../ui/Empty";
import { NetworkIcon } from "../../ui/NetworkIcon";
import { Page } from "../../ui/Page";
import { Paged, usePages } from "../../ui/Paged";
import { ago } from "../../ui/times";
import { useNow } from "../../ui/useNow";
import { useSearchWords } from "../../ui/useSearchWords";
import { inboundWord } from "../contacts/inbound";
import { labels, labelName, whoIs } from "./labels";
import { Thread } from "./Thread";
import { t } from "../../messages/inbox";

type Conversation = Schemas["ConversationView"];

export default function Inbox() {
  const { "*": chosen = "" } = useParams();
  const workspace_id = useWorkspaceId();
  const go = useNavigate();
  const [words, set] = useSearchWords();
  const narrow = useMediaQuery("(max-width: 62em)") === true;
  const [accounts, members] = [useAccounts(), useMembers()];
  const state = words.get("state") === "done" ? "done" : "open";
  const label = labels.find(({ value }) => value === words.get("label"))?.value;
  const [assignee, account] = [words.get("assignee") ?? undefined, words.get("account") ?? undefined];
  const conversations = usePages<Conversation, string>(
    [workspace_id, "conversations", state, label, assignee, account],
    (cursor) => take(api.GET("/api/v1/workspaces/{workspace_id}/inbox", { params: { path: { workspace_id }, query: { state, label, assignee, account, cursor } } })),
    { refetchInterval: 60_000 },
  );
  const open = (id: string) => void go({ pathname: `/w/${workspace_id}/inbox${id === "" ? "" : `/${id}`}`, search: words.toString() });
  const filtered = label !== undefined || assignee !== undefined || account !== undefined;
  const list = (
    <Stack gap="sm">
      <Group gap="xs">
        <SegmentedControl
          aria-label={t("status")}
          value={state}
          data={[
            { value: "open", label: t("open") },
            { value: "done", label: t("done") },
          ]}
          onChange={(value) => set("state", value === "open" ? null : value)}
        />
        <Select aria-label={t("label")} placeholder={t("anyLabel")} clearable w={150} data={[...labels]} value={label ?? null} onChange={(value) => set("label", value)} />
        <Select aria-label={t("assignee")} placeholder={t("anyone")} clearable w={140} data={(members.data ?? []).map(({ id, name }) => ({ value: id, label: name }))} value={assignee ?? null} onChange={(value) => set("assignee", value)} />
        <Select aria-label={t("account")} placeholder={t("anyAccount")} clearable searchable w={170} data={(accounts.data ?? []).map((each) => ({ value: each.id, label: accountLabel(each) }))} value={account ?? null} onChange={(value) => set("account", value)} />
      </Group>
      <Paged
        pages={conversations}
        empty={
          <Empty icon={IconInbox} title={state === "open" ? t("noOpenConversations") : t("nothingIsDone")}>
            {filtered ? t("nothingMatches") : t("repliesAppearHere")}
          </Empty>
        }
      >
        {(rows) => (
          <Stack component="ul" gap={0} p={0} m={0} style={{ listStyle: "none" }} aria-label={t("conversations")}>
            {rows.map((each) => (
              <li key={each.id}>
                <Row conversation={each} isOpen={each.id === chosen} assignee={members.data?.find(({ id }) => id === each.assignee)?.name} onOpen={() => open(each.id)} />
              </li>
            ))}
          </Stack>
        )}
      </Paged>
    </Stack>
  );
  const thread = chosen !== "" && <Thread key={chosen} id={chosen} />;
  return (
    <Page title={t("inbox")} message={t("whatPeopleAnswered")}>
      {narrow ? (
        chosen === "" ? (
          list
        ) : (
          <Stack>
            <Button w="fit-content" variant="subtle" onClick={() => open("")}>
              {t("allConversations")}
            </Button>
            {thread}
          </Stack>
        )
      ) : (
        <SimpleGrid cols={2} style={{ alignItems: "start" }}>
          {list}
          <Box>{chosen === "" ? <Text c="dimmed">{t("chooseAConversation")}</Text> : thread}</Box>
        </SimpleGrid>
      )}
    </Page>
  );
}

function Row({ conversation, isOpen, assignee, onOpen }: { conversation: Conversation; isOpen: boolean; assignee: string | undefined; onOpen: () => void }) {
  const now = useNow();
  return (
    <UnstyledButton onClick={onOpen} aria-current={isOpen} w="100%" py="xs" px={6} bg={isOpen ? "var(--mantine-color-default-hover)" : undefined} style={{ borderBottom: "1px solid var(--mantine-color-default-border)" }}>
      <Group wrap="nowrap" gap="sm" align="flex-start">
        <NetworkIcon of={conversation.channel} />
        <div style={{ minWidth: 0, flex: 1 }}>
          <Group gap={6} justify="space-between" wrap="nowrap">
            <Text size="sm" fw={650} truncate>
              {whoIs(conversation)}
            </Text>
            <Text size="xs" c="dimmed" style={{ flex: "none" }}>
              {ago(conversation.last_at, now)}
            </Text>
          </Group>
          <Text size="sm" truncate>
            {conversation.last_text === "" ? inboundWord(conversation.last_kind) : conversation.last_text}
          </Text>
          <Group gap={4} mt={2}>
            {conversation.last_kind !== "reply" && (
              <Badge size="sm" variant="outline" color="orange">
                {inboundWord(conversation.last_kind)}
              </Badge>
            )}
            {conversation.label !== null && (
              <Badge size="sm" variant="outline" color="indigo">
                {labelName(conversation.label)}
              </Badge>
            )}
            {assignee !== undefined && (
              <Badge size="sm" variant="outline" color="gray">
                {assignee}
              </Badge>
            )}
          </Group>
        </div>
      </Group>
    </UnstyledButton>
  );
}
