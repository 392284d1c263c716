//! Filters by conditions of the response (mod_filter).

use super::filters::{OUTPUT_FILTERS, known};
use crate::draft::Draft;
use crate::model::overrides::Class;
use crate::model::response::expr::Expr;
use crate::model::response::filters::{Dispatch, FilterProtocol, FilterProvider, FilterRank, SmartFilter};
use crate::table::row::{ANYWHERE, Contexts, FILE_INFO, MANY, Row, rows, words};

const OPTIONS: Contexts = ANYWHERE.and_htaccess(Class::OPTIONS);

/// Maximum number of links of a section's chain: each is looked up for each response.
const MAX_LINKS: usize = 100;

pub static ROWS: &[Row] = rows![
    "mod_filter.c",
    words("AddOutputFilterByType", FILE_INFO, "filter[;filter…] type…", 2..=MANY, add_output_filter_by_type).because(
        "compression costs time, a proxy in front may do it, and secrets in compressed pages can be guessed \
         (docs/operating/compression.md)"
    ),
    "Filters responses of these MIME types, compared exactly. INCLUDES executes server-side includes, SUBSTITUTE applies \
     Substitute, INFLATE decompresses gzip. Compression: DEFLATE for clients that accept gzip, BROTLI_COMPRESS for br, ZSTD (or \
     ZSTD_COMPRESS) for zstd. With several, `BROTLI_COMPRESS;DEFLATE`, the client's Accept-Encoding decides; on a tie \
     the first is used. The variables no-gzip, no-brotli and no-zstd prevent them. The types of an inner section replace \
     those of outer ones for the same filter. Other filters are ignored with a warning.",
    words("FilterDeclare", OPTIONS, "name [type]", 1..=2, declare).because("FilterProvider declares a filter, too"),
    "Declares a filter without providers (docs/operating/filters.md). The type RESOURCE, the default, filters text in the \
     order of the chain; CONTENT_SET and later types filter it after all of these. Compression is last in any case.",
    words("FilterProvider", OPTIONS, "name provider expression", 3..=4, provide)
        .because("a filter without providers does nothing"),
    "Lets a filter use a provider for responses for which an expression of httpd 2.4 is true. Providers: INCLUDES, \
     SUBSTITUTE, INFLATE, DEFLATE, BROTLI_COMPRESS, ZSTD. Of several that fit the one that was defined last is used.",
    words("FilterChain", OPTIONS, "[+=-@!]name…", 1..=MANY, chain)
        .because("a declared filter does nothing outside of a chain"),
    "Appends filters to the chain of this section, which follows that of outer ones. `@name` is put first, `-name` removed, \
     `=name` replaces all, `!` removes all. A name that is not declared does nothing.",
    words("FilterProtocol", OPTIONS, "name [provider] flags", 2..=3, protocol)
        .because("the server adapts the headers of the filters that it has"),
    "What a provider does to responses. Flags, separated by semicolons: change=yes removes ETag, Content-MD5 and \
     Content-Length, change=1:1 all but the last; byteranges=no, proxy=no, proxy=transform and cache=no are those of httpd. \
     Without a provider the flags do nothing, as in httpd.",
    words("FilterTrace", ANYWHERE, "name level", 2..=2, trace).because("the order of a chain is that of its lines"),
    "Checks that the filter is declared and the level 0, 1 or 2. Nothing is logged.",
];

/// `AddOutputFilterByType filter[;filter…] type…`
fn add_output_filter_by_type(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let Some((names, types)) = args.split_first() else { return Ok(()) };
    for (name, provider) in known(draft, names) {
        let name = format!("BYTYPE:{name}");
        let is_first = !draft.settings().response.filter_chain.filters.contains_key(&name);
        add(draft, &name, provider, Dispatch::Types(types.to_vec()));
        if is_first {
            link(draft, &name)?;
        }
    }
    Ok(())
}

/// `FilterDeclare name [type]`
fn declare(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let [name, kind @ ..] = args else { return Ok(()) };
    draft.charge_rule()?;
    let kind = kind.first().map_or("RESOURCE", String::as_str);
    let rank = FilterRank::of_type(kind).unwrap_or_else(|| {
        draft.warn(&format!("{kind} is no type of filters and means RESOURCE; write RESOURCE or CONTENT_SET"));
        FilterRank::RESOURCE
    });
    draft.settings().response.filter_chain.filters.insert(name.clone(), SmartFilter::new(rank));
    Ok(())
}

/// `FilterProvider name provider expression`
fn provide(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let [name, provider, expression] = args else {
        return Err(
            "the form with four words is that of httpd 2.2; write FilterProvider name provider \"expression\", for \
             instance \"%{CONTENT_TYPE} =~ m|^text/html|\""
                .to_owned(),
        );
    };
    draft.charge_rule()?;
    let known =
        FilterProvider::of(provider).ok_or_else(|| format!("there is no filter {provider}: {OUTPUT_FILTERS}"))?;
    let expr = Expr::parse(expression, &mut draft.patterns)?;
    add(draft, name, known, Dispatch::Holds(expr));
    Ok(())
}

/// Adds a provider to a filter, which is declared if it was not.
fn add(draft: &mut Draft, name: &str, provider: FilterProvider, dispatch: Dispatch) {
    let filters = &mut draft.settings().response.filter_chain.filters;
    let filter = filters.entry(name.to_owned()).or_insert_with(|| SmartFilter::new(provider.rank()));
    filter.add(provider, dispatch);
}

/// `FilterChain [+=-@!]name…`
fn chain(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    args.iter().try_for_each(|argument| link(draft, argument))
}

fn link(draft: &mut Draft, argument: &str) -> Result<(), String> {
    draft.charge_rule()?;
    let chain = &mut draft.settings().response.filter_chain;
    chain.change(argument);
    if chain.links.len() > MAX_LINKS {
        chain.links.truncate(MAX_LINKS);
        return Err(format!("the chain of this section has more than {MAX_LINKS} filters; remove some"));
    }
    Ok(())
}

/// `FilterProtocol name [provider] flags`
fn protocol(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let [name, between @ .., flags] = args else { return Ok(()) };
    let provider = between.first().map(|provider| {
        let known = FilterProvider::of(provider);
        known.ok_or_else(|| format!("there is no filter {provider}: {OUTPUT_FILTERS}"))
    });
    let provider = provider.transpose()?;
    let filter = declared(draft, name)?;
    provider.map_or(Ok(()), |provider| filter.set_protocol(provider, FilterProtocol::parse(flags)))
}

/// `FilterTrace name level`
fn trace(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let [name, level] = args else { return Ok(()) };
    declared(draft, name)?;
    match ["0", "1", "2"].contains(&level.as_str()) {
        true => Ok(()),
        false => Err(format!("expected a level of 0, 1 or 2, got {level}")),
    }
}

fn declared<'a>(draft: &'a mut Draft, name: &str) -> Result<&'a mut SmartFilter, String> {
    let filter = draft.settings().response.filter_chain.filters.get_mut(name);
    filter
        .ok_or_else(|| format!("the filter {name} is not declared in this section; write FilterDeclare {name} before"))
}
