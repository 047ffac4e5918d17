// Asks for one line of text before something is done; null: it is left.
import { Button, Group, Stack, Text, TextInput } from "@mantine/core";
import { modals } from "@mantine/modals";
import { useState, type ReactNode } from "react";
import { t } from "../messages/ui";

interface Asked {
  title: string;
  message: ReactNode;
  label: string;
  yes: string;
  danger?: boolean;
  optional?: boolean;
}

export function askFor(asked: Asked): Promise<string | null> {
  return new Promise((answer) => {
    const id = modals.open({
      title: asked.title,
      onClose: () => answer(null),
      children: (
        <Line
          asked={asked}
          onAnswer={(text) => {
            answer(text);
            modals.close(id);
          }}
        />
      ),
    });
  });
}

function Line({ asked, onAnswer }: { asked: Asked; onAnswer: (text: string | null) => void }) {
  const [text, setText] = useState("");
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        onAnswer(text.trim());
      }}
    >
      <Stack>
        <Text component="div" size="sm">
          {asked.message}
        </Text>
        <TextInput
          label={asked.label}
          required={asked.optional !== true}
          data-autofocus
          maxLength={200}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
        />
        <Group justify="flex-end">
          <Button variant="default" onClick={() => onAnswer(null)}>
            {t("cancel")}
          </Button>
          <Button type="submit" color={asked.danger === true ? "red" : undefined}>
            {asked.yes}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
