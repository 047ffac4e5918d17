// Which accounts it goes to, and on which channels of those that have several.
import { Checkbox, Group, MultiSelect, Stack } from "@mantine/core";

import type { Account } from "../../api/accounts";
import { accountLabel } from "../../ui/AccountChoice";
import { channelName } from "../../ui/words";
import { channelsOf, onChannels, type Channel, type Place } from "./content";
import { offeredBy, type ChannelAbout } from "./useChannels";
import { t } from "../../messages/composer";

interface Props {
  accounts: readonly Account[];
  channels: readonly ChannelAbout[];
  places: readonly Place[];
  /** Where the server says that accounts go of themselves, if it was asked. */
  foreseen?: readonly { account_id: string | null; channel: Channel }[];
  required?: boolean;
  onChange: (places: Place[]) => void;
}

export function Where({ accounts, channels, places, foreseen = [], required, onChange }: Props) {
  const chosen = [...new Set(places.map((each) => each.account_id))];
  return (
    <Stack gap="xs">
      <MultiSelect
        label={t("accounts")}
        placeholder={chosen.length === 0 ? t("chooseAccounts") : undefined}
        required={required}
        searchable
        hidePickedOptions
        nothingFoundMessage={t("noMatchingAccount")}
        value={chosen}
        data={accounts.map((each) => ({
          value: each.id,
          label: accountLabel(each),
          disabled: each.state === "disconnected",
        }))}
        onChange={(ids) =>
          onChange([...places.filter((each) => ids.includes(each.account_id)), ...ids.filter((id) => !chosen.includes(id)).map((account_id) => ({ account_id }))])
        }
      />
      {chosen.map((id) => {
        const account = accounts.find((each) => each.id === id);
        const offered = account === undefined ? [] : offeredBy(channels, account);
        if (account === undefined || offered.length < 2) return null;
        const named = channelsOf(places, id);
        // Nobody named any: the account's usual ones, as the server sees them.
        const seen = foreseen.filter((each) => each.account_id === id).map(({ channel }) => channel);
        const usual = seen.length > 0 ? seen : offered.filter((each) => each.usual).map(({ channel }) => channel);
        const ticked = named.length > 0 ? named : usual;
        return <OnChannels key={id} handle={account.handle} offered={offered} ticked={ticked} onChange={(next) => onChange(onChannels(places, id, next))} />;
      })}
    </Stack>
  );
}

function OnChannels(props: { handle: string; offered: ChannelAbout[]; ticked: Channel[]; onChange: (channels: Channel[]) => void }) {
  const { offered, ticked } = props;
  return (
    <Checkbox.Group size="sm" label={t("handlePostTo", { handle: props.handle })} value={ticked} onChange={(next) => next.length > 0 && props.onChange(next as Channel[])}>
      <Group gap="md" mt={4}>
        {offered.map(({ channel }) => (
          <Checkbox key={channel} value={channel} label={channelName(channel)} disabled={ticked.length === 1 && ticked[0] === channel} />
        ))}
      </Group>
    </Checkbox.Group>
  );
}
