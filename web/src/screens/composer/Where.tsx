// Which accounts it goes to, and on which channels of those that have several.
import { Checkbox, Group, MultiSelect, Stack } from "@mantine/core";

import type { Account } from "../../api/accounts";
import { accountLabel } from "../../ui/AccountChoice";
import { channelName } from "../../ui/words";
import { channelsOf, onChannels, type Channel, type Content } from "./content";
import type { Preview } from "./foresee";
import { offeredBy, type ChannelAbout } from "./useChannels";

interface Props {
  accounts: Account[];
  channels: ChannelAbout[];
  content: Content;
  previews: Preview[];
  onChange: (content: Content) => void;
}

export function Where({ accounts, channels, content, previews, onChange }: Props) {
  const chosen = [...new Set(content.places.map((each) => each.account_id))];
  return (
    <Stack gap="xs">
      <MultiSelect
        label="Where"
        placeholder={chosen.length === 0 ? "Choose accounts" : undefined}
        searchable
        hidePickedOptions
        nothingFoundMessage="No account is called that"
        value={chosen}
        data={accounts.map((each) => ({
          value: each.id,
          label: accountLabel(each),
          disabled: each.state === "disconnected",
        }))}
        onChange={(ids) =>
          onChange({
            ...content,
            places: [
              ...content.places.filter((each) => ids.includes(each.account_id)),
              ...ids.filter((id) => !chosen.includes(id)).map((account_id) => ({ account_id })),
            ],
          })
        }
      />
      {chosen.map((id) => {
        const account = accounts.find((each) => each.id === id);
        const offered = account === undefined ? [] : offeredBy(channels, account);
        if (account === undefined || offered.length < 2) return null;
        return <OnChannels key={id} account={account} offered={offered} content={content} previews={previews} onChange={onChange} />;
      })}
    </Stack>
  );
}

function OnChannels(props: { account: Account; offered: ChannelAbout[]; content: Content; previews: Preview[]; onChange: (content: Content) => void }) {
  const { account, offered, content } = props;
  const named = channelsOf(content, account.id);
  // Nobody named any: the account's usual ones, as the server sees them.
  const foreseen = props.previews.filter((each) => each.account_id === account.id).map(({ channel }) => channel);
  const usual = foreseen.length > 0 ? foreseen : offered.filter((each) => each.usual).map(({ channel }) => channel);
  const ticked: Channel[] = named.length > 0 ? named : usual;
  return (
    <Checkbox.Group
      size="sm"
      label={`${account.handle} on`}
      value={ticked}
      onChange={(next) => next.length > 0 && props.onChange(onChannels(content, account.id, next as Channel[]))}
    >
      <Group gap="md" mt={4}>
        {offered.map(({ channel }) => (
          <Checkbox key={channel} value={channel} label={channelName(channel)} disabled={ticked.length === 1 && ticked[0] === channel} />
        ))}
      </Group>
    </Checkbox.Group>
  );
}
