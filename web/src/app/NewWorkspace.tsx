// Another workspace, with accounts, posts and people of its own; whoever makes it owns it.
import { Alert, Autocomplete, Button, Group, Modal, Stack, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "react-router";

import { api, take } from "../api/client";
import { meQuery, useMe } from "../api/me";
import { Problem } from "../api/problem";
import { tellDone } from "../ui/tell";
import { zones } from "../ui/zones";
import { t } from "../messages/app";

export function NewWorkspace({ onClose }: { onClose: () => void }) {
  const me = useMe();
  const go = useNavigate();
  const queries = useQueryClient();
  const form = useForm({
    initialValues: { name: "", zone: me.zone },
    validate: { name: (name) => (name.trim() === "" ? t("enterAName") : null) },
  });
  const create = useMutation({
    mutationFn: ({ name, zone }: { name: string; zone: string }) => take(api.POST("/api/v1/workspaces", { body: { name: name.trim(), zone } })),
    onSuccess: async (made) => {
      await queries.invalidateQueries({ queryKey: meQuery.queryKey }); // the list to choose from is part of oneself
      tellDone(t("nameIsReady", { name: made.name }));
      onClose();
      await go(`/w/${made.id}`);
    },
    onError: (error) => {
      if (error instanceof Problem) form.setErrors(error.fields);
    },
  });
  return (
    <Modal opened onClose={onClose} title={t("newWorkspace")}>
      <form noValidate onSubmit={form.onSubmit((said) => create.mutate(said))}>
        <Stack>
          {create.error !== null && (
            <Alert role="alert" color="red" title={t("couldntCreateTheWorkspace")}>
              {create.error.message}
            </Alert>
          )}
          <Text size="sm">{t("aWorkspaceHasItsOwnAccounts")}</Text>
          <TextInput label={t("name")} required data-autofocus maxLength={200} {...form.getInputProps("name")} />
          <Autocomplete label={t("timeZone")} data={zones} limit={20} required {...form.getInputProps("zone")} />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {t("cancel")}
            </Button>
            <Button type="submit" loading={create.isPending}>
              {t("createWorkspace")}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
