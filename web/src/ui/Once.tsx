import { Alert, Button, Code, CopyButton, Group, Stack, Text } from "@mantine/core";
import { IconCheck, IconCopy, IconKey } from "@tabler/icons-react";
import { t } from "../messages/ui";

/** A secret that is shown this one time: it can be copied, and is gone when the box is closed. */
export function Once(props: { title: string; secret: string; message: string; onClose: () => void }) {
  return (
    <Alert color="yellow" role="status" title={props.title} icon={<IconKey aria-hidden />}>
      <Stack gap="xs">
        <Text size="sm">{props.message}</Text>
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
                {copied ? t("copied") : t("copy")}
              </Button>
            )}
          </CopyButton>
          <Button size="compact-sm" variant="default" onClick={props.onClose}>
            {t("iveSavedIt")}
          </Button>
        </Group>
      </Stack>
    </Alert>
  );
}
