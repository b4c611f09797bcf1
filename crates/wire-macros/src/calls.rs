//! The client's calls from the rows of the method table: a method each, named like the row in snake
//! case, which declarative macros cannot spell.

use proc_macro2::TokenStream;
use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Ident, LitStr, Token, Type, parenthesized};

use crate::names::Case;

/// All rows of `client_requests!`.
pub struct Rows(Vec<Row>);

/// `stability Name = "wire/name" (Params) -> Result, Lane;`
struct Row {
    docs: Vec<Attribute>,
    stability: Ident,
    name: Ident,
    wire: LitStr,
    params: Type,
}

impl Parse for Rows {
    fn parse(input: ParseStream<'_>) -> syn::Result<Rows> {
        let mut rows = Vec::new();
        while !input.is_empty() {
            rows.push(input.parse()?);
        }
        Ok(Rows(rows))
    }
}

impl Parse for Row {
    fn parse(input: ParseStream<'_>) -> syn::Result<Row> {
        let docs = input.call(Attribute::parse_outer)?;
        let stability = input.parse()?;
        let name = input.parse()?;
        input.parse::<Token![=]>()?;
        let wire = input.parse()?;
        let params;
        parenthesized!(params in input);
        let params = params.parse()?;
        input.parse::<Token![->]>()?;
        input.parse::<Type>()?;
        // The lane is the server's business.
        while !input.peek(Token![;]) {
            input.parse::<proc_macro2::TokenTree>()?;
        }
        input.parse::<Token![;]>()?;
        Ok(Row {
            docs,
            stability,
            name,
            wire,
            params,
        })
    }
}

/// `impl Client { pub fn thread_start(&self, params: ThreadStartParams) -> Call<request::ThreadStart> … }`
pub fn expand(Rows(rows): &Rows) -> TokenStream {
    let calls = rows.iter().map(call);
    quote! {
        impl Client {
            #(#calls)*
        }
    }
}

fn call(row: &Row) -> TokenStream {
    let Row {
        docs, name, params, ..
    } = row;
    let function = Ident::new(&Case::Snake.spell(&name.to_string()), name.span());
    let needs = match row.stability == "experimental" {
        true => ", which needs the experimental API",
        false => "",
    };
    let sent = format!("Sends `{}`{needs}.", row.wire.value());
    let takes_none = matches!(params, Type::Path(path) if path.path.is_ident("NoParams"));
    let (argument, value) = match takes_none {
        true => (quote!(), quote!(NoParams)),
        false => (quote!(params: #params), quote!(params)),
    };
    quote! {
        #(#docs)*
        #[doc = ""]
        #[doc = #sent]
        pub fn #function(&self, #argument) -> Call<request::#name> {
            self.call(#value)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_row_is_a_method() {
        let rows: Rows = syn::parse_quote! {
            /// Starts a thread.
            stable ThreadStart = "thread/start" (ThreadStartParams) -> ThreadStartResponse, Thread(id);
            /// Forgets who is logged in.
            experimental AccountLogout = "account/logout" (NoParams) -> LogoutAccountResponse, Free;
        };
        let code = expand(&rows).to_string();
        for part in [
            "pub fn thread_start (& self , params : ThreadStartParams) -> Call < request :: ThreadStart >",
            "pub fn account_logout (& self ,) -> Call < request :: AccountLogout >",
            "self . call (NoParams)",
            "Sends `account/logout`, which needs the experimental API.",
        ] {
            assert!(code.contains(part), "{part}: {code}");
        }
    }
}
