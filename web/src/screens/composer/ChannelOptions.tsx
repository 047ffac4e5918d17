// What a network lets one choose on a channel beside the words, as it declares it.
import { Checkbox, MultiSelect, Select, SimpleGrid, TagsInput, TextInput } from "@mantine/core";

import { Section } from "../../ui/Section";
import { channelName } from "../../ui/words";
import { choose, type Channel, type Content } from "./content";
import type { Option } from "./useChannels";
import { t } from "../../messages/composer";

interface Props {
  channel: Channel;
  options: Option[];
  content: Content;
  onChange: (content: Content) => void;
}

export function ChannelOptions({ channel, options, content, onChange }: Props) {
  const chosen = content.variants[channel]?.options ?? {};
  return (
    <Section title={t("onlyOnChannel", { channel: channelName(channel) })} message={t("anythingYouLeaveEmptyUsesThe")}>
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
        {options.map((option) => (
          <OptionField key={option.name} option={option} value={chosen[option.name]} onChange={(value) => onChange(choose(content, channel, option.name, value))} />
        ))}
      </SimpleGrid>
    </Section>
  );
}

function OptionField({ option, value, onChange }: { option: Option; value: unknown; onChange: (value: unknown) => void }) {
  const { label } = option;
  const description = option.hint === "" ? undefined : option.hint;
  const texts = Array.isArray(value) ? value.map(String) : [];
  const common = { label, description, inputWrapperOrder: ["label", "input", "description", "error"] as ("label" | "input" | "description" | "error")[] };
  const some = (list: string[]) => onChange(list.length === 0 ? undefined : list);
  switch (option.takes) {
    case "choice":
      return <Select {...common} placeholder={t("default")} clearable data={option.choices} value={typeof value === "string" ? value : null} onChange={(next) => onChange(next ?? undefined)} />;
    case "choices":
      return <MultiSelect {...common} data={option.choices} value={texts} onChange={some} />;
    case "flag":
      return <Checkbox label={label} description={description} checked={value === true} onChange={(event) => onChange(event.currentTarget.checked ? true : undefined)} />;
    case "texts":
      return <TagsInput {...common} value={texts} onChange={some} />;
    case "text":
      return <TextInput {...common} value={typeof value === "string" ? value : ""} onChange={(event) => onChange(event.currentTarget.value === "" ? undefined : event.currentTarget.value)} />;
  }
}
