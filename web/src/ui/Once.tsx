import { Alert, Button, Code, CopyButton, Group, Stack, Text } from "@mantine/core";
import { IconCheck, IconCopy, IconKey } from "@tabler/icons-react";

/** A secret that is shown this one time: it can be copied, and is gone when the box is closed. */
export function Once(props: { title: string; secret: string; says: string; onClose: () => void }) {
  return (
    <Alert color="yellow" role="status" title={props.title} icon={<IconKey aria-hidden />}>
      <Stack gap="xs">
        <Text size="sm">{props.says}</Text>
        <Code block style={{ wordBreak: "break-all", whiteSpace: "pre-wrap" }}>
          {props.secret}
        </Code>
        <Group gap="xs">
          <CopyButton value={props.secret}>
            {({ copied, copy }) => (
              <Button
                size="compact-sm"
                leftSection={copied ? <IconCheck size={14} aria-hidden /> : <IconCopy size={14} aria-hidden />}
                onClick={copy}
              >
                {copied ? "Copied" : "Copy"}
              </Button>
            )}
          </CopyButton>
          <Button size="compact-sm" variant="default" onClick={props.onClose}>
            I've saved it
          </Button>
        </Group>
      </Stack>
    </Alert>
  );
}
