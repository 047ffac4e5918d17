import { ActionIcon, Button, Group, SegmentedControl, Select, Switch, Text } from "@mantine/core";
import { IconChevronLeft, IconChevronRight } from "@tabler/icons-react";

import type { Account } from "../../api/accounts";
import { accountLabel } from "../../ui/AccountChoice";
import type { Clock, Whose } from "./useWhose";

const views = [
  { value: "dayGridMonth", label: "Month" },
  { value: "timeGridWeek", label: "Week" },
  { value: "timeGridDay", label: "Day" },
  { value: "listWeek", label: "Agenda" },
];

/** Whose posts are shown, and on whose clock. */
export function WhoseChoice({ whose, accounts }: { whose: Whose; accounts: readonly Account[] }) {
  return (
    <>
      <Select
        aria-label="Accounts"
        placeholder="All accounts"
        searchable
        clearable
        clearButtonProps={{ "aria-label": "Show all accounts" }}
        w={220}
        data={accounts.map((each) => ({ value: each.id, label: accountLabel(each) }))}
        value={whose.account?.id ?? null}
        onChange={whose.choose}
      />
      <SegmentedControl
        aria-label="Whose time"
        value={whose.clock}
        onChange={(said) => whose.setClock(said as Clock)}
        data={[
          { value: "workspace", label: "Workspace" },
          { value: "account", label: "Account", disabled: whose.account === undefined },
          { value: "mine", label: "Mine" },
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
        <ActionIcon variant="default" size={36} aria-label="Earlier" onClick={() => props.onTurn("prev")}>
          <IconChevronLeft size={18} />
        </ActionIcon>
        <Button variant="default" onClick={() => props.onTurn("today")}>
          Today
        </Button>
        <ActionIcon variant="default" size={36} aria-label="Later" onClick={() => props.onTurn("next")}>
          <IconChevronRight size={18} />
        </ActionIcon>
        <Text fw={650} aria-live="polite">
          {props.title}
        </Text>
      </Group>
      <Group gap="md">
        <Switch label="Free slots" checked={props.ghosts} onChange={(event) => props.onGhosts(event.currentTarget.checked)} />
        <SegmentedControl aria-label="View" data={views} value={props.view} onChange={props.onView} />
      </Group>
    </Group>
  );
}
