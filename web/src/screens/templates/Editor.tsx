import { Alert, Anchor, Badge, Button, Group, Select, SimpleGrid, Stack, Text, Textarea, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useDebouncedValue } from "@mantine/hooks";
import { useEffect, useState } from "react";
import { Link, useNavigate } from "react-router";

import { useAccounts } from "../../api/accounts";
import { useAct } from "../../api/act";
import { api, take } from "../../api/client";
import { useMay, useWorkspaceId } from "../../api/me";
import { Problem } from "../../api/problem";
import type { Template } from "../../api/templates";
import { askFirst } from "../../ui/ask";
import { MessagePreview } from "../../ui/MessagePreview";
import { Page } from "../../ui/Page";
import { Section } from "../../ui/Section";
import { channelName } from "../../ui/words";
import { messageChannels, sendersOf, TestMail, type MessageChannel } from "../campaigns/steps";
import { useChannels } from "../composer/useChannels";
import { ContactChoice } from "../contacts/Members";
import { hiddenParts, TEMPLATE, TEMPLATES, usePreview, type Content } from "./useTemplate";
import { t } from "../../messages/templates";

interface Values {
  name: string;
  subject: string;
  format: Content["format"];
  body: string;
}

export function Editor({ template }: { template: Template | null }) {
  const workspace_id = useWorkspaceId();
  const editor = useMay("editor");
  const go = useNavigate();
  const content = template?.version.content;
  const form = useForm<Values>({ initialValues: { name: template?.name ?? "", subject: content?.subject ?? "", format: content?.format ?? "markdown", body: content?.body ?? "" } });
  const [number, setNumber] = useState(template?.version.number); // what one saw: a newer one is not overwritten
  useUnsaved(form.isDirty());
  const save = useAct(
    "template",
    (values: Values) => {
      const written = { ...hiddenParts(content), ...values };
      return template === null
        ? take(api.POST(TEMPLATES, { params: { path: { workspace_id } }, body: written }))
        : take(api.PUT(TEMPLATE, { params: { path: { workspace_id, template_id: template.id } }, body: { ...written, version: number } }));
    },
    {
      done: (kept) => t("savedAsVersion", { number: kept.version.number }),
      after: (kept) => {
        form.resetDirty();
        setNumber(kept.version.number);
        if (template === null) void go(`/w/${workspace_id}/templates/${kept.id}`, { replace: true });
      },
      refused: (error) => {
        if (error instanceof Problem) form.setErrors(error.fields);
      },
    },
  );
  const remove = useAct("template", () => take(api.DELETE(TEMPLATE, { params: { path: { workspace_id, template_id: template?.id ?? "" } } })), {
    done: () => t("nameIsDeleted", { name: template?.name ?? "" }),
    after: () => void go(`/w/${workspace_id}/templates`),
  });
  const ask = async () => {
    if (await askFirst({ title: t("deleteName", { name: template?.name ?? "" }), message: t("whatWasPlannedKeepsIt"), yes: t("delete"), danger: true })) remove.mutate();
  };
  return (
    <Page
      title={template?.name ?? t("newTemplate")}
      message={
        <Group gap="xs">
          <Anchor component={Link} to={`/w/${workspace_id}/templates`} size="sm">
            {t("allTemplates")}
          </Anchor>
          {number !== undefined && <span>{t("versionNumber", { number })}</span>}
        </Group>
      }
      actions={
        editor &&
        template !== null && (
          <Button variant="default" loading={remove.isPending} onClick={() => void ask()}>
            {t("deleteDots")}
          </Button>
        )
      }
    >
      <SimpleGrid cols={{ base: 1, md: 2 }} style={{ alignItems: "start" }}>
        <form onSubmit={form.onSubmit((values) => save.mutate(values))}>
          <Stack>
            <TextInput label={t("name")} required maxLength={200} disabled={!editor} {...form.getInputProps("name")} />
            <TextInput label={t("subject")} description={t("forEmailsOnly")} maxLength={998} disabled={!editor} {...form.getInputProps("subject")} />
            <Select
              label={t("writtenIn")}
              allowDeselect={false}
              disabled={!editor}
              data={[
                { value: "markdown", label: t("markdown") },
                { value: "text", label: t("plainText") },
                { value: "html", label: "HTML" },
              ]}
              {...form.getInputProps("format")}
            />
            <Textarea
              label={t("text")}
              description={t("writeVariablesLikeThis")}
              required
              autosize
              minRows={10}
              maxRows={28}
              disabled={!editor}
              styles={{ input: { fontFamily: form.values.format === "html" ? "monospace" : undefined } }}
              {...form.getInputProps("body")}
            />
            {editor && (
              <Group justify="flex-end">
                <Button type="submit" disabled={!form.isDirty()} loading={save.isPending}>
                  {template === null ? t("saveTemplate") : t("saveAsNewVersion")}
                </Button>
              </Group>
            )}
          </Stack>
        </form>
        <Live values={form.values} content={content} templateId={form.isDirty() ? null : (template?.id ?? null)} />
      </SimpleGrid>
    </Page>
  );
}

/** Closing the tab asks first while something is not saved. */
function useUnsaved(dirty: boolean) {
  useEffect(() => {
    if (!dirty) return;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener("beforeunload", warn);
    return () => window.removeEventListener("beforeunload", warn);
  }, [dirty]);
}

/** The message for a chosen person, or with made-up values, as one types. */
function Live({ values, content, templateId }: { values: Values; content: Content | undefined; templateId: string | null }) {
  const [channel, setChannel] = useState<MessageChannel>("email");
  const [contact, setContact] = useState<string | null>(null);
  const [typed] = useDebouncedValue(values, 350);
  const preview = usePreview({
    subject: typed.subject,
    format: typed.format,
    body: typed.body,
    ...hiddenParts(content),
    channel,
    contact_id: contact,
  });
  const [accounts, channels] = [useAccounts().data ?? [], useChannels()];
  const senders = sendersOf("email", accounts, channels);
  return (
    <Section title={t("preview")}>
      <Group gap="xs">
        <Select aria-label={t("channel")} w={170} allowDeselect={false} data={messageChannels.map((value) => ({ value, label: channelName(value) }))} value={channel} onChange={(value) => setChannel(value as MessageChannel)} />
        <ContactChoice label={t("asThisPersonGetsIt")} value={contact} onChoose={setContact} />
        {contact !== null && (
          <Button variant="subtle" size="compact-sm" onClick={() => setContact(null)}>
            {t("useExamples")}
          </Button>
        )}
      </Group>
      <Text size="sm" c="dimmed">
        {contact === null ? t("withExampleValues") : t("withTheirValues")}
      </Text>
      {preview.error !== null && (
        <Alert color="red" role="alert">
          {preview.error instanceof Problem && preview.error.faults.length > 0 ? preview.error.faults.map(({ message }) => message).join(" ") : preview.error.message}
        </Alert>
      )}
      {preview.error === null && preview.data !== undefined && (
        <>
          <MessagePreview preview={preview.data} />
          {preview.data.variables.length > 0 && (
            <Group gap={6} role="group" aria-label={t("variables")}>
              <Text size="sm">{t("variablesLabel")}</Text>
              {preview.data.variables.map(({ name, required }) => (
                <Badge key={name} variant="outline" color={(preview.data.missing ?? []).includes(name) ? "orange" : "gray"}>
                  {required ? t("requiredVariable", { name }) : name}
                </Badge>
              ))}
            </Group>
          )}
        </>
      )}
      {templateId !== null && channel === "email" && <TestMail templateId={templateId} accountIds={senders.map(({ id }) => id)} />}
    </Section>
  );
}
