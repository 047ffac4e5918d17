import { ActionIcon, Button, Group, SegmentedControl, Select, Switch, Text } from "@mantine/core";
import { IconChevronLeft, IconChevronRight } from "@tabler/icons-react";

import type { Account } from "../../api/accounts";
import { accountLabel } from "../../ui/AccountChoice";
import type { Clock, Whose } from "./useWhose";
import { t } from "../../messages/calendar";

const views = [
  { value: "dayGridMonth", label: t("month") },
  { value: "timeGridWeek", label: t("week") },
  { value: "timeGridDay", label: t("day") },
  { value: "listWeek", label: t("agenda") },
];

/** Whose posts are shown, and on whose clock. */
export function WhoseChoice({ whose, accounts }: { whose: Whose; accounts: readonly Account[] }) {
  return (
    <>
      <Select
        aria-label={t("accounts")}
        placeholder={t("allAccounts")}
        searchable
        clearable
        clearButtonProps={{ "aria-label": t("showAllAccounts") }}
        w={220}
        data={accounts.map((each) => ({ value: each.id, label: accountLabel(each) }))}
        value={whose.account?.id ?? null}
        onChange={whose.choose}
      />
      <SegmentedControl
        aria-label={t("timeZone")}
        value={whose.clock}
        onChange={(said) => whose.setClock(said as Clock)}
        data={[
          { value: "workspace", label: t("workspace") },
          { value: "account", label: t("account"), disabled: whose.account === undefined },
          { value: "mine", label: t("mine") },
        ]}
      />
    </>
  );
}

/** Which days are shown, how, and whether free slots show among them. */
export function Toolbar(props: {
  title: string;
  onTurn: (how: "prev" | "next" | "today") => void;
  view: string;
  onView: (view: string) => void;
  ghosts: boolean;
  onGhosts: (shown: boolean) => void;
}) {
  return (
    <Group justify="space-between" gap="xs">
      <Group gap="xs">
        <ActionIcon variant="default" size={36} aria-label={t("earlier")} onClick={() => props.onTurn("prev")}>
          <IconChevronLeft size={18} />
        </ActionIcon>
        <Button variant="default" onClick={() => props.onTurn("today")}>
          {t("today")}
        </Button>
        <ActionIcon variant="default" size={36} aria-label={t("later")} onClick={() => props.onTurn("next")}>
          <IconChevronRight size={18} />
        </ActionIcon>
        <Text fw={650} aria-live="polite">
          {props.title}
        </Text>
      </Group>
      <Group gap="md">
        <Switch label={t("freeSlots")} checked={props.ghosts} onChange={(event) => props.onGhosts(event.currentTarget.checked)} />
        <SegmentedControl aria-label={t("view")} data={views} value={props.view} onChange={props.onView} />
      </Group>
    </Group>
  );
}
