import { Button, Group, Stack, Textarea } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";

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
            label={`Part ${index + 2}`}
            autosize
            minRows={2}
            maxRows={12}
            style={{ flex: 1 }}
            value={part}
            onChange={(event) => onChange(parts.with(index, event.currentTarget.value))}
          />
          <Button size="compact-sm" variant="subtle" color="gray" onClick={() => onChange(parts.toSpliced(index, 1))} aria-label={`Remove part ${index + 2}`}>
            Remove
          </Button>
        </Group>
      ))}
      <Button w="fit-content" size="compact-sm" variant="default" leftSection={<IconPlus size={14} aria-hidden />} onClick={() => onChange([...parts, ""])}>
        {parts.length === 0 ? "Make it a thread" : "Another part"}
      </Button>
    </Stack>
  );
}

export function CommentField({ value, onChange }: { value: string; onChange: (text: string) => void }) {
  return (
    <Textarea
      label="First comment"
      description="Put under the post where the network lets us"
      autosize
      minRows={1}
      maxRows={8}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}
