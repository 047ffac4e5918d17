import { Group, Select, Text } from "@mantine/core";

import type { Account } from "../api/accounts";
import { NetworkIcon } from "./NetworkIcon";
import { accountWord, networkName } from "./words";
import { t } from "../messages/ui";

/** Choose one account; typing finds it by handle, name or network. */
export function AccountChoice(props: {
  accounts: readonly Account[];
  value: string | null;
  onChange: (id: string) => void;
  label?: string;
}) {
  const chosen = props.accounts.find(({ id }) => id === props.value);
  const byId = new Map(props.accounts.map((each) => [each.id, each]));
  return (
    <Select
      aria-label={props.label ?? t("account")}
      placeholder={t("searchAccounts")}
      searchable
      allowDeselect={false}
      nothingFoundMessage={t("noMatchingAccount")}
      maxDropdownHeight={320}
      limit={200}
      w={{ base: "100%", xs: 300 }}
      leftSection={chosen && <NetworkIcon of={chosen.provider} />}
      value={props.value}
      data={props.accounts.map((each) => ({ value: each.id, label: accountLabel(each) }))}
      filter={({ options, search }) => {
        const words = search.toLowerCase().split(/\s+/);
        return options.filter((option) => {
          const account = "value" in option ? byId.get(option.value) : undefined;
          const text = account && `${account.handle} ${account.name ?? ""} ${networkName(account.provider)}`.toLowerCase();
          return text !== undefined && words.every((word) => text.includes(word));
        });
      }}
      renderOption={({ option }) => {
        const account = byId.get(option.value);
        if (account === undefined) return option.label;
        const word = account.lane?.paused === true ? t("paused") : account.state === "connected" ? null : accountWord(account.state).message;
        return (
          <Group gap="xs" wrap="nowrap">
            <NetworkIcon of={account.provider} />
            <div>
              <Text size="sm">{account.handle}</Text>
              <Text size="xs" c="dimmed">
                {networkName(account.provider)}
                {word !== null && ` · ${word}`}
              </Text>
            </div>
          </Group>
        );
      }}
      onChange={(id) => id !== null && props.onChange(id)}
    />
  );
}

export function accountLabel(account: Account): string {
  return `${account.handle} · ${networkName(account.provider)}`;
}
