import { Button, Group, Stack, Textarea } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { t } from "../../messages/composer";

export function TextField(props: { label: string; value: string; onChange: (text: string) => void }) {
  return (
    <Textarea
      label={props.label}
      autosize
      minRows={5}
      maxRows={18}
      value={props.value}
      onChange={(event) => props.onChange(event.currentTarget.value)}
    />
  );
}

/** The parts of a thread after the first. */
export function PartsField({ parts, onChange }: { parts: string[]; onChange: (parts: string[]) => void }) {
  return (
    <Stack gap="xs">
      {parts.map((part, index) => (
        <Group key={index} align="flex-end" wrap="nowrap" gap="xs">
          <Textarea
            label={t("partLabel", { index: index + 2 })}
            autosize
            minRows={2}
            maxRows={12}
            style={{ flex: 1 }}
            value={part}
            onChange={(event) => onChange(parts.with(index, event.currentTarget.value))}
          />
          <Button size="compact-sm" variant="subtle" color="gray" onClick={() => onChange(parts.toSpliced(index, 1))} aria-label={t("removePartIndex", { index: index + 2 })}>
            {t("remove")}
          </Button>
        </Group>
      ))}
      <Button w="fit-content" size="compact-sm" variant="default" leftSection={<IconPlus size={14} aria-hidden />} onClick={() => onChange([...parts, ""])}>
        {parts.length === 0 ? t("makeItAThread") : t("addAnotherPart")}
      </Button>
    </Stack>
  );
}

export function CommentField({ value, onChange }: { value: string; onChange: (text: string) => void }) {
  return (
    <Textarea
      label={t("firstComment")}
      description={t("addedBelowThePostWhereThe")}
      autosize
      minRows={1}
      maxRows={8}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}
