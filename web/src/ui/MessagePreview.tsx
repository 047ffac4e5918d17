// A message as its recipient would get it. What an author wrote is shown in a frame without scripts or forms.
import { Alert, Badge, Box, Group, Paper, Stack, Text } from "@mantine/core";
import { useState } from "react";

import type { Schemas } from "../api/client";
import { t } from "../messages/ui";

type Shown = Schemas["TemplatePreviewView"];

const LEAST = 160; // pixels

export function MessagePreview({ preview }: { preview: Shown }) {
  return (
    <Stack gap="xs">
      <Lacking preview={preview} />
      {preview.complete && (
        <Paper withBorder p="sm" role="group" aria-label={t("preview")}>
          {(preview.subject ?? "") !== "" && (
            <Text fw={650} mb="xs" style={{ overflowWrap: "anywhere" }}>
              {preview.subject}
            </Text>
          )}
          {preview.html === null || preview.html === undefined ? (
            <Text size="sm" style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}>
              {preview.text}
            </Text>
          ) : (
            <Framed html={preview.html} />
          )}
        </Paper>
      )}
      {(preview.removed ?? []).length > 0 && (
        <Text size="xs" c="dimmed">
          {t("removedFromHtml", { what: (preview.removed ?? []).join(", ") })}
        </Text>
      )}
    </Stack>
  );
}

/** It is on paper, whatever the app's colours are: mails are written for white. */
function Framed({ html }: { html: string }) {
  const [height, setHeight] = useState(LEAST);
  return (
    <Box
      component="iframe"
      title={t("preview")}
      sandbox="allow-same-origin" // to measure it; scripts stay off
      srcDoc={html}
      tabIndex={0}
      w="100%"
      h={height}
      bg="white"
      style={{ border: 0, borderRadius: 4, colorScheme: "light" }}
      onLoad={({ currentTarget }) => setHeight(Math.max(LEAST, Math.min(900, (currentTarget.contentDocument?.documentElement.scrollHeight ?? 0) + 8)))}
    />
  );
}

/** Which values are missing or do not fit. */
function Lacking({ preview: { missing = [], unfit = {} } }: { preview: Shown }) {
  if (missing.length === 0 && Object.keys(unfit).length === 0) return null;
  return (
    <Alert role="status" color="orange" title={t("cantBeSentLikeThis")}>
      {missing.length > 0 && (
        <Group gap={6}>
          <Text size="sm">{t("missingValues")}</Text>
          {missing.map((name) => (
            <Badge key={name} variant="outline" color="orange">
              {name}
            </Badge>
          ))}
        </Group>
      )}
      {Object.entries(unfit).map(([name, why]) => (
        <Text key={name} size="sm">
          {name}: {why}
        </Text>
      ))}
    </Alert>
  );
}
