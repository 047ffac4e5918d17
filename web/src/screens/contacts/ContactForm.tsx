import { ActionIcon, Autocomplete, Button, Group, Modal, Select, Stack, TagsInput, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { IconPlus, IconTrash } from "@tabler/icons-react";

import { useAct } from "../../api/act";
import { api, take } from "../../api/client";
import { useWorkspaceId } from "../../api/me";
import { Problem } from "../../api/problem";
import { channelName } from "../../ui/words";
import { zones } from "../../ui/zones";
import { consents, CONTACT, CONTACTS, nameOf, useFields, type Contact } from "./useContacts";
import { t } from "../../messages/contacts";

interface Values {
  first_name: string;
  last_name: string;
  company: string;
  country: string;
  zone: string;
  consent: Contact["consent"];
  tags: string[];
  addresses: { channel: string; address: string }[];
  fields: Record<string, string>;
}

const usualChannels = ["email", "linkedin", "telegram"];

/** A person's data; `null` is somebody new. */
export function ContactForm({ contact, onClose, onSaved }: { contact: Contact | null; onClose: () => void; onSaved?: (contact: Contact) => void }) {
  const workspace_id = useWorkspaceId();
  const fields = useFields();
  const form = useForm<Values>({
    initialValues: {
      first_name: contact?.first_name ?? "",
      last_name: contact?.last_name ?? "",
      company: contact?.company ?? "",
      country: contact?.country ?? "",
      zone: contact === null || contact.zone_guessed ? "" : (contact.zone ?? ""),
      consent: contact?.consent ?? "unknown",
      tags: contact?.tags ?? [],
      addresses: contact?.addresses.map(({ channel, written }) => ({ channel, address: written })) ?? [{ channel: "email", address: "" }],
      fields: Object.fromEntries(Object.entries(contact?.fields ?? {}).map(([key, value]) => [key, String(value)])),
    },
  });
  const save = useAct(
    "contact",
    ({ zone, country, addresses, fields: own, ...rest }: Values) => {
      const body = {
        ...rest,
        country: country === "" ? null : country,
        zone: zone === "" ? null : zone,
        addresses: addresses.filter(({ address }) => address.trim() !== ""),
        fields: typed(own, fields.data ?? []),
      };
      return contact === null
        ? take(api.POST(CONTACTS, { params: { path: { workspace_id } }, body }))
        : take(api.PATCH(CONTACT, { params: { path: { workspace_id, contact_id: contact.id } }, body: { ...body, revision: contact.revision } }));
    },
    {
      done: (kept) => t("nameIsSaved", { name: nameOf(kept) }),
      after: (kept) => {
        onSaved?.(kept);
        onClose();
      },
      refused: (error) => {
        if (error instanceof Problem) form.setErrors(error.fields);
      },
    },
  );
  return (
    <Modal opened onClose={onClose} title={contact === null ? t("newContact") : t("editName", { name: nameOf(contact) })} size="lg">
      <form onSubmit={form.onSubmit((values) => save.mutate(values))}>
        <Stack>
          <Group grow>
            <TextInput label={t("firstName")} data-autofocus maxLength={200} {...form.getInputProps("first_name")} />
            <TextInput label={t("lastName")} maxLength={200} {...form.getInputProps("last_name")} />
          </Group>
          <Stack gap={6} role="group" aria-label={t("addresses")}>
            {form.values.addresses.map((_, at) => (
              <Group key={at} gap="xs" wrap="nowrap" align="flex-end">
                <Select w={130} label={at === 0 ? t("channel") : undefined} aria-label={t("channel")} allowDeselect={false} data={channelsFor(form.values.addresses[at]?.channel ?? "email")} {...form.getInputProps(`addresses.${at}.channel`)} />
                <TextInput style={{ flex: 1 }} label={at === 0 ? t("address") : undefined} aria-label={t("address")} maxLength={300} {...form.getInputProps(`addresses.${at}.address`)} />
                <ActionIcon size={36} variant="subtle" color="gray" aria-label={t("removeAddress")} onClick={() => form.removeListItem("addresses", at)}>
                  <IconTrash size={16} />
                </ActionIcon>
              </Group>
            ))}
            <Button w="fit-content" size="compact-sm" variant="subtle" leftSection={<IconPlus size={14} aria-hidden />} onClick={() => form.insertListItem("addresses", { channel: "email", address: "" })}>
              {t("addAddress")}
            </Button>
          </Stack>
          <Group grow>
            <TextInput label={t("company")} maxLength={200} {...form.getInputProps("company")} />
            <TextInput label={t("country")} description={t("codeOrEnglishName")} {...form.getInputProps("country")} />
          </Group>
          <Group grow align="flex-start">
            <Select label={t("consent")} allowDeselect={false} data={[...consents]} {...form.getInputProps("consent")} />
            <Autocomplete label={t("timeZone")} placeholder={contact?.zone ?? t("guessedFromTheCountry")} data={zones} limit={20} {...form.getInputProps("zone")} />
          </Group>
          <TagsInput label={t("tags")} {...form.getInputProps("tags")} />
          {(fields.data ?? []).map((field) =>
            field.kind === "choice" ? (
              <Select key={field.key} label={field.label} clearable data={field.choices} value={form.values.fields[field.key] ?? null} onChange={(value) => form.setFieldValue(`fields.${field.key}`, value ?? "")} />
            ) : (
              <TextInput key={field.key} label={field.label} type={field.kind === "date" ? "date" : field.kind === "number" ? "number" : "text"} value={form.values.fields[field.key] ?? ""} onChange={(event) => form.setFieldValue(`fields.${field.key}`, event.currentTarget.value)} />
            ),
          )}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {t("cancel")}
            </Button>
            <Button type="submit" loading={save.isPending}>
              {t("save")}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

const channelsFor = (own: string) => [...new Set([...usualChannels, own])].map((value) => ({ value, label: channelName(value) }));

/** Typed text as the fields hold it: a number is one, an empty field is none. */
export function typed(own: Record<string, string>, fields: readonly { key: string; kind: string }[]): Record<string, string | number | null> {
  return Object.fromEntries(
    Object.entries(own).map(([key, value]) => {
      const kind = fields.find((each) => each.key === key)?.kind;
      return [key, value === "" ? null : kind === "number" ? Number(value) : value];
    }),
  );
}
